import { Server } from "@modelcontextprotocol/server";

/** What the tool `echo` of such a server says of itself. */
export const firstWords = "Says it back, and how.";

/** A server of the library. Its tool `echo` says which revision it was called by; the other, `describe`, changes its words. */
export function sdkServer(words: { description: string }, options: { readonly revision?: string } = {}): Server {
  const server = new Server(
    { name: "sdk", version: "1" },
    {
      capabilities: { tools: { listChanged: true } },
      ...(options.revision === undefined ? {} : { supportedProtocolVersions: [options.revision] }),
    },
  );
  const text = { type: "string", "x-mcp-header": "Text" };
  server.setRequestHandler("tools/list", ({ params }) =>
    params?.cursor === undefined
      ? {
          tools: [
            { name: "echo", description: words.description, inputSchema: { type: "object", properties: { text } } },
          ],
          nextCursor: "more",
        }
      : { tools: [{ name: "describe", inputSchema: { type: "object" } }] },
  );
  server.setRequestHandler("tools/call", async ({ params }) => {
    if (params.name === "describe") {
      words.description = "Sends it away.";
      await server.sendToolListChanged();
    }
    const said = `${String(params.arguments?.["text"])} by ${server.getNegotiatedProtocolVersion()}`;
    return { content: [{ type: "text", text: said }] };
  });
  return server;
}
