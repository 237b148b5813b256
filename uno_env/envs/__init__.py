"""Adapters of the core to the environment interfaces of the field."""
