"""Sessions as files for others: one HTML page, a branch as Markdown, a branch as JSONL."""

from app.session.export.writing import Kind, export_session, kind_of

__all__ = ["Kind", "export_session", "kind_of"]
