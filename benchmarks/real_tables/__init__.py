"""Default answers on real, messy tables that other packages bring; nothing is downloaded."""
