"""The linear recurrence of chapter 10, fast."""
