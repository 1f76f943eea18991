//! What only shows when the packages work together: goldens, real traces, the project's own rules.

mod corpus;
mod nsys_goldens;
mod real_traces;
mod tidy;
mod torch_goldens;
