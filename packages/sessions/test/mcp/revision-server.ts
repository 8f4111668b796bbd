// An MCP server of the library that speaks one revision alone. Usage: node revision-server.ts <revision>
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { firstWords, sdkServer } from "./sdk-server.ts";

const [revision = ""] = process.argv.slice(2);
const words = { description: firstWords };
if (revision >= "2026") serveStdio(() => sdkServer(words), { legacy: "reject" });
else await sdkServer(words, { revision }).connect(new StdioServerTransport());
