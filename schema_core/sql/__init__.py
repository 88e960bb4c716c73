"""What was written: the tokens, the frozen syntax trees and the printer of Flink SQL."""
