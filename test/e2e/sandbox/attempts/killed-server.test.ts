import { SessionAttempts } from "@gennai/client/attempts";
import { EditingMode } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { bash } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { serveGennai } from "../../process/serve-gennai.ts";
import { copiesLeft, inEach } from "./of-session.ts";

const { signal } = new AbortController();

test("a server that is killed in the middle: what had ended is there and can be taken, the rest is said to be broken off", async () => {
  const command = inEach("echo 2 > value.txt", "echo 3 > value.txt; sleep 300", "true");
  await using gennai = await serveGennai({
    files: { "value.txt": "0\n" },
    script: [{ steps: [bash(command), { text: ["Done."] }] }],
    args: ["--commands", "staged"],
  });
  const { client, workspace, stateDirectory: stateDir } = gennai;
  const settings = { editingMode: EditingMode.PROPOSAL };
  const { sessionId } = await client.startSession({ interactive: false, settings });
  const attempts = new SessionAttempts(client, sessionId);
  const { id } = await attempts.start(
    { id: "once", text: "try it", check: "grep -qx 2 value.txt", count: 4, parallel: 2 },
    { signal },
  );
  const phases = async () => {
    const [set] = await attempts.list({ signal });
    return set?.attempts
      .map(({ number, phase }) => `${number} ${phase}`)
      .toSorted()
      .join(", ");
  };
  // The third and the fourth come to their end beside the second.
  await expect.poll(phases).toBe("1 ended, 2 working, 3 ended, 4 ended");
  expect(copiesLeft({ workspace, stateDir })).not.toEqual([]);
  await gennai.kill();
  await gennai.restart();

  const [set] = await attempts.list({ signal });
  expect(set?.isRunning).toBe(false);
  const second = set?.attempts.find(({ number }) => number === 2);
  expect(second).toMatchObject({ phase: "ended", outcome: "interrupted" });
  expect(second?.text).toContain("the server ended");
  expect(set?.suggested).toBe(1);
  expect(copiesLeft({ workspace, stateDir })).toEqual([]);
  expect(await attempts.take(id, 1, { signal })).not.toBe("");
  // Asked for again by a client that did not hear: they are the same.
  const again = { id: "once", text: "try it", check: "grep -qx 2 value.txt", count: 4 };
  expect((await attempts.start(again, { signal })).id).toBe(id);
  expect(await workspace.read("value.txt")).toBe("0\n");
});
