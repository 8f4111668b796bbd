import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { eventsOf, startSession } from "../../rpc/session-client.ts";
import { result, staging } from "./staging.ts";

const files = { "a.txt": "one\n", "src/render/r.ts": "1\n", "src/b.ts": "1\n" };

test("what is spelled like a loss runs unasked where nothing of the user's is lost", async () => {
  const command = "echo more >> a.txt; git stash && git stash drop; echo x > new.txt; git clean -fd; git reset --hard";
  await using server = await staging([command], files);
  const { output, error, events } = await result(server, await startSession(server));
  expect(`${error}${output}`).toContain("exit code 0");
  expect(eventsOf(events, "confirmationRequest")).toEqual([]);
  expect(await server.workspace.read("a.txt")).toBe("one\n");
  expect(existsSync(server.workspace.path("new.txt"))).toBe(false);
});

test("what starts programs of the command's choice runs unasked where a stage holds them", async () => {
  const commands = [
    "git commit -qam x --allow-empty; git commit -qm y --allow-empty",
    "GIT_SEQUENCE_EDITOR=\"sed -i '2s/^pick/fixup/'\" git rebase -q -i HEAD~2",
    "git -c core.hooksPath=/dev/null commit -qm z --allow-empty; NODE_OPTIONS='--require ./src/r.cjs' node -p 1",
    "ls src | sed 's/^/echo /' | sh; tar -I 'gzip -9' -cf x.tgz src; ls src/render/* | xargs rm -rf",
  ];
  await using server = await staging(commands, { ...files, "src/r.cjs": "console.log('required');\n" });
  const sessionId = await startSession(server);
  const results = [];
  for (const _command of commands) results.push(await result(server, sessionId));
  expect(results.map(({ error }) => error)).toEqual(["", "", "", ""]);
  expect(results[2]?.output).toMatch(/^required\n1\n/);
  expect(results[3]?.output).toMatch(/^b.ts\n/);
  expect(await server.workspace.git("log", "-3", "--format=%s")).toBe("z\nx\nfirst");
  expect(existsSync(server.workspace.path("src/render/r.ts"))).toBe(false);
});
