"""Pictures of a `Position`, one module for each kind."""
