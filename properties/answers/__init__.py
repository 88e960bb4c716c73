"""What the library answers to the questions of fuzz/oracle/PROTOCOL.md, a file a family."""
