import { execFile, execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import { ConfirmationAnswer } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Watcher } from "../../rpc/session-client.ts";
import { AskedSession } from "../asked-session.ts";
import { staging } from "../staged/staging.ts";
import { bareRepository, branches, userHome } from "./services/git-host.ts";
import { gitOverSsh } from "./services/git-over-ssh.ts";

afterEach(() => vi.unstubAllEnvs());

describe("a plain chain with a push by ssh at its end", () => {
  test("what stands before it is kept and recorded first; the remote that it puts in place is the one that is asked about", async () => {
    await using home = await userHome();
    await home.write(".ssh/id_ed25519", "a key\n");
    await using server = await staging([
      "touch made.txt && git remote set-url origin ssh://git@127.0.0.1:9/r.git && git push origin work",
    ]);
    await server.workspace.git("remote", "add", "origin", "ssh://git@127.0.0.1:8/r.git");
    await using watcher = await Watcher.begin(server);
    const settings = await watcher.next("confirmationRequest");
    await watcher.answer(settings);
    const push = await watcher.next("confirmationRequest", 1);
    // Git's settings first, as for any command; then the push to where they lead now.
    expect(settings.actionStatement).toContain("Keep what `touch made.txt && git remote set-url");
    expect(push.actionStatement).toBe("Run `git push origin work`");
    expect(push.impactStatement).toContain("ssh://git@127.0.0.1:9/r.git");
    // While the question waits.
    const { records } = await server.governance.listLedgerRecords({ sessionId: watcher.sessionId });
    expect(records.map(({ json }) => json)).toContainEqual(expect.stringMatching(/"made\.txt".*"kind":"outcome"/));
    await watcher.answer(push, { answer: ConfirmationAnswer.NO });
    expect((await watcher.next("toolResult")).error).toContain("User denied execution");
    expect(await server.workspace.read("made.txt")).toBe("");
  });
});

describe("git push over ssh", () => {
  test("with the keys of an agent, it succeeds after a yes; a command beside it finds no agent", async () => {
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

  test("with a key file, which is not in the run: its agent logs in once, to that host, and not to another one meanwhile", async () => {
    await using home = await userHome();
    await using bare = await bareRepository();
    execFileSync("mkdir", ["-m", "700", home.path(".ssh")]);
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", home.path(".ssh/id_ed25519")]);
    vi.stubEnv("SSH_AUTH_SOCK", undefined);
    const key = await home.read(".ssh/id_ed25519.pub");
    await using other = await gitOverSsh(bare.root, key);
    const tried: string[] = [];
    const agents = (): readonly string[] => readdirSync(tmpdir()).filter((name) => /^gennai-agent-/.test(name));
    const before = new Set(agents());
    const attack = async (): Promise<void> => {
      // Beside it is the one that holds the key, of which the run has nothing.
      const own = agents().filter((name) => !before.has(name) && existsSync(`${tmpdir()}/${name}/agent`));
      const ports = own.flatMap((name) => [other.port, host.port].map((port) => [name, port] as const));
      const outcomes = ports.map(([name, port]) => {
        const options = [`IdentityAgent=${tmpdir()}/${name}/agent`, `UserKnownHostsFile=${home.path("all")}`];
        const words = ["-F", "/dev/null", ...options.flatMap((option) => ["-o", option]), "-o", "BatchMode=yes"];
        return promisify(execFile)("ssh", [...words, "-o", "IdentityFile=none", "-p", `${port}`, "git@127.0.0.1", "x"]);
      });
      for (const [at, outcome] of (await Promise.allSettled(outcomes)).entries()) {
        const end =
          outcome.status === "fulfilled"
            ? "in"
            : String(outcome.reason)
                .match(/refused|denied/g)
                ?.join(" ");
        tried.push(`${ports[at]?.[1] === host.port ? "again" : "other"}: ${end}`);
      }
    };
    await using host = await gitOverSsh(bare.root, key, attack);
    await home.write(".ssh/known_hosts", host.knownHost);
    await home.write("all", host.knownHost + other.knownHost);
    await home.write(
      ".ssh/config",
      `Host work\n  HostName 127.0.0.1\n  Port ${host.port}\n  User git\n  UserKnownHostsFile ${home.path(".ssh/known_hosts")}\n`,
    );
    await using server = await staging(["git push origin work"]);
    await server.workspace.git("remote", "add", "origin", "work:r.git");
    await using session = await AskedSession.start(server);
    const { questions, output } = await session.turnWithYes();
    expect(output).toContain("exit code 0");
    expect(questions).toHaveLength(1);
    expect(questions[0]?.computed?.reason).toContain(`the user's ssh key ${home.path(".ssh/id_ed25519")}`);
    expect(branches(bare)).toContain("refs/heads/work");
    expect(tried.toSorted()).toEqual(["again: refused denied", "other: refused denied"]);
    expect(output).toContain("[the ssh agent refused: It wanted to log in to another host.]");
    expect(host.commands).toEqual(["git-receive-pack 'r.git'"]);
    expect(other.commands).toEqual([]);
    expect(agents().filter((name) => !before.has(name))).toEqual([]);
  });
});
