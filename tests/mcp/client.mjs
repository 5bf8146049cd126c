// The official MCP client against a `refrain serve`: connects, lists, searches, describes, and runs scripts.
// Prints one JSON object with what it saw. The client checks structured content against the declared output schema.
//
//   node client.mjs BINARY '["return 1+1", …]'
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [binary, scripts] = process.argv.slice(2);
const client = new Client({ name: "refrain-tests", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command: binary, args: ["serve"], env: process.env, stderr: "inherit" }));

const { tools } = await client.listTools();
const offered = new Set(tools.map((tool) => tool.name));
const call = (name, args) => (offered.has(name) ? client.callTool({ name, arguments: args }) : null);

const search = await call("search_tools", { query: "echo a message" });
const describe = await call("describe_tools", { names: ["everything.echo"] });
const runs = [];
for (const code of JSON.parse(scripts)) runs.push(await call("run_code", { code }));

console.log(JSON.stringify({
  server: client.getServerVersion(),
  capabilities: client.getServerCapabilities(),
  instructions: client.getInstructions(),
  tools, search, describe, runs,
}));
await client.close();
