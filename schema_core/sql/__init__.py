"""Tokens, frozen syntax trees and printer of Flink SQL."""
