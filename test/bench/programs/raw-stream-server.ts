// The floor of streaming: passes each piece of the model's text on as a chunk of a bare HTTP response. Prints its port.
import { createServer } from "node:http";
import { askChat, type ChatChunk } from "./chat-floor.ts";

const server = createServer((request, response) => {
  const baseUrl = new URL(request.url ?? "", "http://localhost").searchParams.get("model") ?? "";
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  const body = JSON.stringify({ model: "bench", stream: true, messages: [] });
  const pass = ({ choices }: ChatChunk) => {
    const text = choices[0]?.delta.content;
    if (text !== undefined) response.write(`${JSON.stringify({ text })}\n`);
  };
  void askChat(baseUrl, body, pass).then(() => response.end());
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : 0}\n`);
});
process.stdin.resume().once("end", () => process.exit());
