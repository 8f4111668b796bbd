import { bash } from "@gennai/testkit/scripted-steps";
import { TestOutside } from "@gennai/testkit/test-outside";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { networked } from "./networked.ts";

test("no command reaches the server of Gennai, and nobody is asked about it", async () => {
  const outside = new TestOutside();
  await using server = await networked(outside, ["true"]);
  const port = new URL(server.url).port;
  await using inner = await startTestServer({
    script: [
      `curl -sS --max-time 10 http://127.0.0.1:${port}/health`,
      `curl -sS --max-time 10 --noproxy '' http://127.0.0.1:${port}/health`,
    ].map((command) => ({ steps: [bash(command), { text: ["Done."] }] })),
    server: { commands: "staged" },
  });
  await using session = await AskedSession.start(inner);
  for (const _ of [1, 2]) {
    const { questions: asked, output } = await session.turn("once");
    expect(asked).toEqual([]);
    expect(output).not.toContain("exit code 0");
  }
});
