import { execFileSync } from "node:child_process";
import { existsSync, linkSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { processesRunning } from "@gennai/testkit/processes";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type IsolatedWorkspace, isolatedWorkspace } from "./isolated-workspace.ts";

let box: IsolatedWorkspace;
beforeAll(async () => {
  box = await isolatedWorkspace({ ".env.example": "KEY=\n", "sub/b.txt": "b\n", "deploy/run.txt": "" });
  for (const path of [".env", "deploy/key.pem"]) put(path);
});
afterAll(() => box[Symbol.asyncDispose]());

function put(path: string): string {
  const file = join(box.root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "ENV-SECRET\n");
  return file;
}

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
    ["run a program of the home's toolchain directories", "cat ~/.cargo/bin/tool", "HOME-SECRET\n"],
    ["see an example of an environment file", "cat .env.example", "KEY=\n"],
    [
      "make a branch that is named like a secret",
      "git checkout -q -b fix.key && git rev-parse --abbrev-ref HEAD",
      "fix.key\n",
    ],
  ])("%s", async (_name, command, output) => {
    expect(await box.run(command)).toMatchObject({ output, exitCode: 0 });
  });

  test("nothing of it is left in the workspace or outside", () => {
    expect(readdirSync(box.root).sort()).toEqual([".env", ".env.example", ".git", "a.txt", "deploy", "sub"]);
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

  test.each(["sub/.env", ".git/x/.env", ".git/refs/x/.env", ".git/modules/m/id_rsa"])(
    "a secret that was made a moment ago: %s",
    async (path) => {
      put(path);
      expect((await box.run(`cat ${path}`)).output).toContain("No such file");
    },
  );

  test("a secret by any other of its names, also by one that came after it was seen first", async () => {
    const env = put("config/.env");
    linkSync(env, join(box.root, "notes.txt"));
    expect((await box.run("cat config/.env notes.txt")).output.match(/No such file/g)).toHaveLength(2);
    mkdirSync(join(box.root, "new"));
    linkSync(env, join(box.root, "new/notes.txt"));
    expect((await box.run("cat new/notes.txt")).output).toContain("No such file");
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

describe("a link that is named as a secret hides what it leads to", () => {
  test("after a restart, too, though the link is gone by then", async () => {
    await using place = await isolatedWorkspace({ "shared/text": "ENV-SECRET\n" });
    symlinkSync("shared/text", join(place.root, ".env"));
    expect((await place.run("cat shared/text")).output).not.toContain("ENV-SECRET");
    execFileSync("rm", [join(place.root, ".env")]);
    const { output } = await (await place.restarted()).run("cat shared/text; cp shared/text copy; cat copy");
    expect(output).not.toContain("ENV-SECRET");
  });

  test("also where it led nowhere when it was seen first", async () => {
    await using place = await isolatedWorkspace();
    for (const name of ["shared", "settings"]) mkdirSync(join(place.root, name));
    symlinkSync("../shared/text", join(place.root, "settings/.env"));
    // Seen, and long enough unchanged that it is not read again.
    for (const _each of [1, 2]) await place.run("sleep 0.1");
    writeFileSync(join(place.root, "shared/text"), "ENV-SECRET\n");
    expect((await place.run("cat shared/text")).output).not.toContain("ENV-SECRET");
  });
});

test("a directory that lies too deep to be looked into lets no command run, and says so", async () => {
  await using place = await isolatedWorkspace();
  const deep = "d".repeat(200);
  execFileSync("bash", ["-c", `mkdir x; for i in $(seq 25); do mkdir n && mv x n/${deep} && mv n x; done`], {
    cwd: place.root,
  });
  await expect(place.run("true")).rejects.toThrow("too long");
  execFileSync("rm", ["-r", join(place.root, "x")]);
});

test.each([
  [
    "files outside",
    () =>
      `echo x > ${box.stateDir}/evil; echo x > ${box.home}/../evil; echo x > /etc/evil; echo x > /usr/evil; echo x > /evil`,
  ],
  ["its own cage", () => "mount -o remount,rw /; unshare -Urm true; nsenter -t 1 -m true; chroot sub true"],
  ["the devices", () => "echo x > /dev/sda; mknod sub/disk b 8 0; cat /dev/mem | head -c 1"],
  [
    "the kernel",
    () => "echo x > /proc/sys/kernel/hostname; echo x > /proc/sysrq-trigger; echo 1 > /sys/kernel/uevent_helper",
  ],
])("what a command cannot change: %s", async (_name, command) => {
  const { output } = await box.run(command());
  expect(output).toMatch(/Read-only|denied|busy|not permitted|No such|cannot|Is a directory|must be superuser|failed/i);
  expect([box.stateDir, box.home, "/etc", "/"].filter((directory) => existsSync(join(directory, "evil")))).toEqual([]);
});

test("no command sets the kernel, also where it runs as root without any capability", async () => {
  const values = "sys/vm/swappiness sys/kernel/core_pattern self/oom_score_adj";
  const again = `for each in ${values}; do cat /proc/$each > /tmp/value; cat /tmp/value > /proc/$each && echo set; done`;
  const { output } = await box.run(`${again}; echo > /dev/stderr`);
  expect(output).not.toContain("set\n");
  expect(output.match(/Read-only file system|Permission denied/g)).toHaveLength(3);
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

  test("the machine around this one, by a socket that no network namespace holds", async () => {
    const script = `
import ctypes, socket
def opens(family):
    try: return bool(socket.socket(family, socket.SOCK_STREAM if family != 16 else socket.SOCK_RAW))
    except OSError: return False
l = ctypes.CDLL(None, use_errno=True)
print([family for family in range(64) if opens(family)], l.syscall(425, 1, 0), ctypes.get_errno())
`;
    const { output } = await box.run(`python3 - <<'END'${script}END`);
    expect(output).toBe("[1, 2, 10, 16] -1 38\n");
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
    expect(processesRunning("sleep 471")).toEqual([]);
  });

  test("life after its deadline", async () => {
    const run = await box.run("trap '' TERM; setsid sleep 4715 & sleep 4716", { timeoutMs: 300 });
    expect(run).toMatchObject({ state: "timed-out", survivors: [] });
    expect(processesRunning("sleep 471")).toEqual([]);
  });
});

describe("where no command runs", () => {
  test("in a directory that it does not see", async () => {
    await expect(box.run("echo ran", { cwd: box.stateDir })).rejects.toThrow(/could not start.*Can't chdir/);
  });

  test.each([
    ["the root of everything", () => "/"],
    ["the state directory itself", () => box.stateDir],
  ])("in a workspace that is %s", async (_name, root) => {
    await expect(box.stages.stage(root(), { sha256: "", covers: () => false })).rejects.toThrow("the workspace");
  });
});
