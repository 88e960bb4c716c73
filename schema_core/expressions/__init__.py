"""What a value is made by: functions as tables, and the bridge from syntax to typed trees."""
