import { join } from "node:path";
import { story } from "../story.mjs";

const server = join(import.meta.dirname, "contrast-server.mjs");
const model = ["--backend", "scripted", "--model", join(import.meta.dirname, "model.yaml")];

await story(async ({ configuration, say, write, gennai, answerGennai, expect }) => {
  say("The server stands in the user's own mcp.json, so it starts without being accepted first.");
  const contrast = { command: process.execPath, args: [server] };
  write(join(configuration, "mcp.json"), JSON.stringify({ mcpServers: { contrast } }));
  const list = gennai("mcp", "list");
  expect(/^contrast +user /m.test(list.output), "gennai mcp list names it", list.output);

  say("Nobody has accepted the tool's description, and nobody can be asked.");
  const refused = gennai("run", ...model, "can the ink be read on the paper?");
  expect(refused.code === 3 && /was not accepted yet/.test(refused.output), "the call is refused", refused.output);

  say("It is high risk, so --yes is not enough. With a person's yes it runs, and its answer goes to the model.");
  const ran = await answerGennai("y", "run", ...model, "can the ink be read on the paper?");
  expect(ran.code === 0 && /15\.1 : 1/.test(ran.output), "the contrast is 15.1 : 1", ran.output);

  say("That yes accepted the description: while it stays as it is, the tool asks no more for that.");
  const again = await answerGennai("y", "run", ...model, "and now?");
  expect(!/was not accepted yet/.test(again.output), "the next call is no news", again.output);

  const record = gennai("ledger", "verify");
  expect(record.code === 0, "all of it is in the record, which verifies", record.output);
});
