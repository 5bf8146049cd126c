//! What machines talk to: the MCP server
