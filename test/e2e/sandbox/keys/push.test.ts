import { existsSync } from "node:fs";
import { ConfirmationScope } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { afterEach, describe, expect, test, vi } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { keptText } from "./kept-text.ts";
import { branches, gitWorld, loginAt, password } from "./services/git-host.ts";

afterEach(() => vi.unstubAllEnvs());

describe("git push over HTTP, with the login of a credential helper", () => {
  test("a plain one is one question, which names the refs, the host and the login, each time; the remote's branch is kept", async () => {
    await using at = await gitWorld(["git push -u origin work", "git push origin work:again"]);
    const { bare, host, server } = at;
    await using session = await AskedSession.start(server);

    const first = await session.turnWithYes();
    const head = await server.workspace.git("rev-parse", "HEAD");
    const place = loginAt(host.port);
    expect(
      first.questions.map(({ title }) => title),
      first.output,
    ).toEqual([`Let git push send this: push ${head} to refs/heads/work (new) at ${place}?`]);
    expect(first.output).toContain("exit code 0");
    for (const question of first.questions) {
      expect(question.computed?.rule).toBe("keys/use");
      expect(question.offeredScopes).toEqual([ConfirmationScope.ONCE]);
    }
    expect(first.questions[0]?.impactStatement).toContain("Nothing of it was sent yet.");
    expect(await server.workspace.read(".orchestration/agent_trace.jsonl")).toContain(
      `push ${head} to refs/heads/work`,
    );
    expect(branches(bare)).toBe(`refs/heads/work ${head}\n`);
    expect(await server.workspace.git("rev-parse", "origin/work")).toBe(head);
    // It tracks what was pushed, and nothing else was noted.
    expect(await server.workspace.git("config", "--get-regexp", "^(branch|credential)")).toBe(
      "branch.work.remote origin\nbranch.work.merge refs/heads/work",
    );

    const second = await session.turnWithYes();
    expect(second.questions).toHaveLength(1);
    expect(branches(bare)).toContain("refs/heads/again");
    await server.running[Symbol.asyncDispose]();
    expect(keptText(server)).not.toContain(password);
  });

  test("after a no nothing is sent, and nobody is asked for the login; where another push comes of it, that is asked about", async () => {
    await using at = await gitWorld(["git push origin work", "git push origin work"]);
    const { home, bare, host, server } = at;
    await home.write(".gitconfig", `[credential]\n\thelper = "!f() { echo asked > ~/asked; cat ~/login; }; f"\n`);
    // As it was noted when it was there.
    const known = await server.workspace.git("commit-tree", "HEAD^{tree}", "-m", "gone");
    await server.workspace.git("update-ref", "refs/remotes/origin/work", known);
    await using session = await AskedSession.start(server);
    const { questions, output } = await session.turn();
    expect(questions).toHaveLength(1);
    expect(output).toContain("User denied execution");
    expect(host.requests).toEqual([]);
    expect(existsSync(home.path("asked"))).toBe(false);
    const later = await session.turn("once", "no");
    expect(later.questions.map(({ title }) => /refs\/heads\/work \((.*?)\)/.exec(title)?.[1])).toEqual([
      `now ${known}`,
      "new",
    ]);
    expect(`${later.error}${later.output}`).toContain("User denied execution");
    expect(
      host.requests.filter((request) => !request.startsWith("GET /r.git/info/refs?service=git-receive-pack")),
    ).toEqual([]);
    expect(branches(bare)).toBe("");
  });

  test("in a pipe, in a list, behind a commit: a no lets the commit stand, and each push is asked about by itself", async () => {
    await using at = await gitWorld([
      "touch one.txt && git add -A && git commit -qm one && git push origin work",
      "git push origin work 2>&1 | cat; git push origin work:two",
    ]);
    const { bare, server, workspace } = at;
    await using session = await AskedSession.start(server);
    const before = await workspace.git("rev-parse", "HEAD");
    const refused = await session.turn("once", "no");
    const head = await workspace.git("rev-parse", "HEAD");
    expect(head, refused.output).not.toBe(before);
    expect(branches(bare)).toBe("");

    const { questions, output } = await session.turnWithYes();
    expect(output).toContain("exit code 0");
    expect(questions.slice(1).map(({ title }) => /push \w+ to \S+ \(\w+\)/.exec(title)?.[0])).toEqual([
      `push ${head} to refs/heads/work (new)`,
      `push ${head} to refs/heads/two (new)`,
    ]);
    expect(branches(bare)).toBe(`refs/heads/two ${head}\nrefs/heads/work ${head}\n`);
  });

  test("one that takes commits away there says so", async () => {
    await using at = await gitWorld(["git push origin", "git push origin work"]);
    const { bare, server, workspace } = at;
    const theirs = await workspace.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "theirs");
    await workspace.git("push", "-q", bare.path("r.git"), `${theirs}:refs/heads/work`);
    await workspace.git("update-ref", "refs/remotes/origin/work", theirs);
    await workspace.git("config", "remote.origin.push", "+refs/heads/work:refs/heads/work");
    await using session = await AskedSession.start(server);
    const { questions, output } = await session.turn("no");
    expect(questions[0]?.title, output).toContain(`to refs/heads/work (now ${theirs})`);
    expect(questions[0]?.impactStatement).toContain("It removes commits from refs/heads/work there.");
    await workspace.git("reset", "-q", "--soft", theirs);
    await workspace.git("commit", "-q", "--allow-empty", "-m", "on top");
    const later = await session.turn("no");
    expect(later.questions[0]?.title, later.output).toContain(`(now ${theirs})`);
    expect(later.questions[0]?.impactStatement).not.toContain("away there");
    expect(branches(bare)).toBe(`refs/heads/work ${theirs}\n`);
  });

  test("and then more: the push is the one question; what was sent is never sent again for another host", async () => {
    await using at = await gitWorld([
      "git push origin work && curl -sS -m 5 http://pages.example/",
      "curl -sS http://pages.example/",
    ]);
    const { host, outside, server } = at;
    const asked = await outside.pages("pages.example", 80, () => ({ body: "page" }));
    await using session = await AskedSession.start(server);
    const { questions, output } = await session.turnWithYes();
    expect(questions.map(({ title }) => title)).toEqual([
      expect.stringMatching(/send this: push \w+ to refs\/heads\/work \(new\) at 127\.0\.0\.1:/),
    ]);
    expect(output).toContain("as something was sent: run what is left as a command of its own");
    expect(host.requests.filter((request) => request.startsWith("POST"))).toHaveLength(1);
    expect(asked).toEqual([]);
    expect((await session.turnWithYes()).output).toContain("page");
  });
});
