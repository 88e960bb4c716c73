"""The table environment: settings, options, statements, interfaces of planners and connectors."""
