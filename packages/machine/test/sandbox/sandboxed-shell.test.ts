import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type SandboxFixture, sandboxFixture } from "./sandbox-fixture.ts";

let box: SandboxFixture;
beforeAll(async () => {
  box = await sandboxFixture({ ".env.example": "KEY=\n", "sub/b.txt": "b\n", "deploy/run.txt": "" });
  for (const secret of [".env", "deploy/key.pem"]) writeFileSync(join(box.root, secret), "ENV-SECRET\n");
});
afterAll(() => box[Symbol.asyncDispose]());

describe("what a command may do", () => {
  test.each([
    ["write in the workspace", "echo hi > new.txt && mkdir -p d/e && mv new.txt d/e/n.txt && cat d/e/n.txt", "hi\n"],
    [
      "keep temporary files for the next command",
      "mktemp -d >/dev/null && echo kept > /tmp/keep; cat /tmp/keep",
      "kept\n",
    ],
    ["find them again", "cat /tmp/keep /var/tmp/keep", "kept\nkept\n"],
    ["use its home as scratch", "echo x > ~/scratch && cat ~/scratch", "x\n"],
    [
      "commit",
      "git add -A . && git -c user.name=n -c user.email=e commit -qm 'More' && git log --format=%s -1 && git status --short",
      "More\n",
    ],
    [
      "make a branch and come back",
      "git checkout -q -b other && git checkout -q main && git merge -q other && git stash list && echo ok",
      "ok\n",
    ],
    ["run a program of the home's toolchain directories", "cat ~/.cargo/bin/tool", "HOME-SECRET\n"],
    ["see an example of an environment file", "cat .env.example", "KEY=\n"],
    ["end with its own exit code", "exit 7", ""],
  ])("%s", async (name, command, output) => {
    const run = await box.run(command);
    expect(run).toMatchObject({ output, exitCode: name.includes("exit code") ? 7 : 0, notes: [] });
  });

  test("nothing of it is left in the workspace or outside", () => {
    expect(readdirSync(box.root).sort()).toEqual([".env", ".env.example", ".git", "a.txt", "d", "deploy", "sub"]);
    expect(existsSync("/tmp/keep")).toBe(false);
    expect(existsSync(join(box.home, "scratch"))).toBe(false);
  });
});

describe("what a command cannot see", () => {
  test.each([
    ["the state directory", () => `cat ${box.stateDir}/token; ls ${box.stateDir}`],
    ["credentials of the home", () => "cat ~/.ssh/id_ed25519 ~/.aws/credentials ~/.netrc ~/.config/gh/hosts.yml"],
    ["a login inside a toolchain directory", () => "cat ~/.cargo/credentials.toml"],
    ["other files of the home", () => `cat ~/notes.txt; ls ${box.home}/..`],
    ["an environment file", () => "cat .env; dd if=.env; python3 -c 'print(open(\".env\").read())'"],
    ["a private key", () => "cat deploy/key.pem; cp deploy/key.pem /tmp/k; cat /tmp/k"],
    ["it through a link", () => "ln -s .env x; cat x; ln .env y; cat y; rm -f x y"],
    [
      "it through its own process table",
      () => "cat /proc/*/root/proc/1/environ; cat /proc/1/root/.env /proc/self/cwd/.env",
    ],
    ["it by moving it", () => "mv .env seen.txt; cat seen.txt; git show HEAD:nothing"],
    ["the system's passwords", () => "cat /etc/shadow /etc/gshadow"],
    ["sockets of other programs", () => "ls /run /var/run"],
  ])("%s", async (_name, command) => {
    const { output } = await box.run(command());
    expect(output).not.toMatch(/HOME-SECRET|STATE-SECRET|ENV-SECRET|root:[*!$]/);
    expect(output).toMatch(/No such file|Permission denied|Invalid cross-device|Device or resource busy|cannot/i);
  });

  test("keys of the session that the server was started in", async () => {
    const call = (number: number, ...words: readonly string[]) =>
      `l.syscall(${number}, ${words.join(", ")}), ctypes.get_errno()`;
    const [add, request, control] = process.arch === "arm64" ? [217, 218, 219] : [248, 249, 250];
    const calls = [
      call(add, "b'user'", "b'k'", "b'v'", "1", "-3"),
      call(request, "b'user'", "b'k'", "None", "0"),
      call(control, "0", "-3", "0"),
    ];
    const script = `import ctypes; l = ctypes.CDLL(None, use_errno=True); print(${calls.join(", ")}); print(l.syscall(${control + 1}) != 0)`;
    const { output } = await box.run(`python3 -c "${script}"; readlink /proc/self/fd/*`);
    expect(output).toMatch(/^-1 1 -1 1 -1 1\nTrue\n/);
    // The filter itself was open to bubblewrap.
    expect(output).not.toContain(box.stateDir);
  });

  test.runIf(process.getuid?.() === 0)("what only root or a group may read of the system's settings", async () => {
    const closed = "find /etc -type f ! -perm -004";
    expect(execFileSync("/bin/sh", ["-c", closed], { encoding: "utf8" })).toContain("/etc/shadow");
    expect((await box.run(closed)).output).toBe("");
  });

  test("a secret that was made a moment ago", async () => {
    writeFileSync(join(box.root, "sub", ".env"), "ENV-SECRET\n");
    expect((await box.run("cat sub/.env")).output).toContain("Permission denied");
  });

  test("a secret when it only reads", async () => {
    expect((await box.run("cat .env", { readsOnly: true })).output).toContain("Permission denied");
  });

  test("variables of the server", async () => {
    process.env["GENNAI_TEST_SECRET"] = "ENV-SECRET";
    try {
      expect((await box.run("env; cat /proc/1/environ")).output).not.toContain("ENV-SECRET");
    } finally {
      delete process.env["GENNAI_TEST_SECRET"];
    }
  });
});

describe("what a command cannot change", () => {
  test.each([
    [
      "files outside",
      () =>
        `echo x > ${box.stateDir}/evil; echo x > ${box.home}/../evil; echo x > /etc/evil; echo x > /usr/evil; echo x > /evil`,
    ],
    [
      "hooks",
      () =>
        "echo 'touch /tmp/x' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; ln -s /bin/sh .git/hooks/post-commit",
    ],
    [
      "git's configuration",
      () => "echo x >> .git/config; rm -f .git/config; git config core.hooksPath d; mv .git/config d/c",
    ],
    ["git's data as a whole", () => "mv .git g; rm -rf .git/hooks; mv .git/hooks d/h"],
    [
      "control directories that do not exist",
      () =>
        "mkdir -p .vscode/x .gennai/x .pi/x .orchestration/x; echo x > .vscode/tasks.json; rmdir .vscode; mv .pi d/p; ln -s d .gennai/l",
    ],
    [
      "control files that do not exist",
      () =>
        "echo x > .mcp.json; rm -f .mcp.json; mv a.txt .mcp.json; ln -sf a.txt .intentignore; cp a.txt .intentignore",
    ],
    [
      "its own cage",
      () =>
        "mount -o remount,rw /; umount .git/hooks; mount --bind d .git/hooks; unshare -Urm true; nsenter -t 1 -m true; chroot d true",
    ],
    ["the devices", () => "echo x > /dev/sda; mknod d/disk b 8 0; cat /dev/mem | head -c 1"],
    [
      "the kernel",
      () => "echo x > /proc/sys/kernel/hostname; echo x > /proc/sysrq-trigger; echo 1 > /sys/kernel/uevent_helper",
    ],
  ])("%s", async (_name, command) => {
    const before = snapshot();
    const { output } = await box.run(command());
    expect(output).toMatch(
      /Read-only|denied|busy|not permitted|No such|cannot|Is a directory|must be superuser|failed/i,
    );
    expect(snapshot()).toEqual(before);
  });

  test("anything, when it only reads", async () => {
    const { output } = await box.run("echo x > c.txt; rm a.txt; git commit --allow-empty -m x; ls", {
      readsOnly: true,
    });
    expect(output).toContain("Read-only file system");
    expect(readFileSync(join(box.root, "a.txt"), "utf8")).toBe("a\n");
    expect(existsSync(join(box.root, "c.txt"))).toBe(false);
  });

  test("which configuration git takes, by another way: it is removed and said", async () => {
    const run = await box.run("mkdir -p evil && echo ../evil > .git/commondir");
    expect(run.notes).toEqual([`[removed: ${box.root}/.git/commondir, which would have changed what git runs]`]);
    expect(existsSync(join(box.root, ".git/commondir"))).toBe(false);
    await box.run("rm -r evil");
  });

  function snapshot(): unknown {
    return {
      workspace: readdirSync(box.root)
        .filter((name) => name !== "d")
        .sort(),
      hooks: readdirSync(join(box.root, ".git/hooks")).sort(),
      config: readFileSync(join(box.root, ".git/config"), "utf8"),
      outside: [box.stateDir, box.home, "/etc", "/"].map((directory) => existsSync(join(directory, "evil"))),
    };
  }
});

describe("what a command cannot reach", () => {
  test("a server on this machine", async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.end("SERVER");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const { output } = await box.run(
      `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3; exec 4<>/dev/tcp/10.0.0.1/80; ls /sys/class/net; cat /proc/net/tcp`,
    );
    server.close();
    expect(output).not.toContain("SERVER");
    expect(output).toMatch(/refused|unreachable/i);
    expect(connections).toBe(0);
  });

  test("other processes", async () => {
    const { output } = await box.run(`kill -9 ${process.pid}; kill -0 ${process.ppid}; ls /proc | grep -c '^[0-9]*$'`);
    expect(output).toContain("No such process");
    expect(Number(output.trim().split("\n").at(-1))).toBeLessThan(10);
  });

  test.each([
    ["in the background", "sleep 4711 & echo begun"],
    ["in a session of its own", "setsid sleep 4712 > /dev/null 2>&1 < /dev/null & echo begun"],
    ["twice removed", "(setsid sh -c 'nohup sleep 4713 & sleep 4714' > /dev/null 2>&1 &) ; sleep 0.1; echo begun"],
  ])("life after its end: %s", async (_name, command) => {
    const run = await box.run(command);
    expect(run).toMatchObject({ output: "begun\n", survivors: [] });
    expect(running("sleep\u0000471")).toEqual([]);
  });

  test("life after its deadline", async () => {
    const run = await box.run("trap '' TERM; setsid sleep 4715 & sleep 4716", { timeoutMs: 300 });
    expect(run).toMatchObject({ state: "timed-out", survivors: [] });
    expect(running("sleep\u0000471")).toEqual([]);
  });
});

describe("how it fails", () => {
  test("a directory that is not in the sandbox: the command does not run", async () => {
    const { output, exitCode } = await box.run("echo ran", { cwd: box.stateDir });
    expect(output).not.toContain("ran");
    expect(exitCode).toBe(1);
  });

  test("a control path that is a link", async () => {
    mkdirSync(join(box.root, "elsewhere"));
    symlinkSync("elsewhere", join(box.root, ".vscode"));
    expect(() => box.shell.prepare("true", { workspaceRoot: box.root, cwd: box.root, readsOnly: false })).toThrow(
      /symbolic link.*cannot be protected/,
    );
    expect((await box.run("echo read", { readsOnly: true })).output).toBe("read\n");
  });

  test.each([
    ["the root of everything", () => "/"],
    ["the state directory itself", () => box.stateDir],
  ])("a workspace that is %s", (_name, root) => {
    expect(() => box.shell.prepare("true", { workspaceRoot: root(), cwd: root(), readsOnly: false })).toThrow(
      /could not be prepared/,
    );
  });
});

/** Ids of processes whose command line holds a text. */
function running(text: string): readonly string[] {
  return readdirSync("/proc").filter((id) => {
    try {
      return /^\d+$/.test(id) && readFileSync(`/proc/${id}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  });
}
