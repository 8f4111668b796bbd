import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { startSession } from "../../rpc/session-client.ts";
import { bash, proposing, turn, wholeTree } from "./proposing.ts";

describe("what is staged is there again", () => {
  test("after a restart", async () => {
    await using server = await proposing([
      [["Write", { file_path: "new.txt", content: "staged\n" }], bash("echo b2 > src/b.txt; chmod +x a.txt")],
      [bash("cat new.txt src/b.txt; stat -c %a a.txt")],
    ]);
    const before = wholeTree(server);
    const session = await startSession(server, { proposal: true });
    await turn(server, session);
    await server.restart();
    const { results, proposals } = await turn(server, session);
    expect(results[0]).toContain("staged\nb2\n755\n");
    expect(proposals).toEqual([]);
    expect(wholeTree(server)).toEqual(before);
  });

  test("or cleanly gone, and that is said", async () => {
    await using server = await proposing([
      [["Write", { file_path: "new.txt", content: "staged\n" }]],
      [bash("ls new.txt")],
    ]);
    const session = await startSession(server, { proposal: true });
    await turn(server, session);
    await server.restart();
    const place = join(server.stateDir, "proposals");
    for (const name of readdirSync(place)) writeFileSync(join(place, name, "staged.json"), "{ broken");
    const { results, warnings } = await turn(server, session);
    expect(results[0]).toContain("exit code 2");
    expect(warnings.join()).toContain("could not be read");
  });
});

test("where nothing is staged, Proposal Mode is the strict form, and user and model are told", async () => {
  await using server = await startTestServer({ steps: [call("Bash", { command: "ls" }), { text: ["Done."] }] });
  const session = await startSession(server, { proposal: true });
  const { results, warnings } = await turn(server, session);
  expect(results[0]).toContain("Bash");
  expect(warnings.join()).toContain("nothing can be staged");
});
