-- GPU metrics: present only where they were sampled, as in a real export.

CREATE TABLE TARGET_INFO_GPU_METRICS (
    typeId                      INTEGER   NOT NULL,
    sourceId                    INTEGER   NOT NULL,
    typeName                    TEXT      NOT NULL,
    metricId                    INTEGER   NOT NULL,
    metricName                  TEXT      NOT NULL
);

CREATE TABLE GPU_METRICS (
    timestamp                   INTEGER,
    typeId                      INTEGER   NOT NULL,
    metricId                    INTEGER   NOT NULL,
    value                       INTEGER   NOT NULL
);
