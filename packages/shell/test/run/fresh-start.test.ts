import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { stagingMachine } from "../staging-machine.ts";

const allowed = [{ host: "registry.example", port: 80 }];

/** Commands of one session, kept; some of them with a way out. */
async function session(inHome: Readonly<Record<string, string>> = {}, pathInHome?: string) {
  await using parts = new AsyncDisposableStack();
  const workspace = parts.use(await temporaryDirectory({ "a.txt": "1\n" }));
  const home = parts.use(await temporaryDirectory(inHome));
  const path = `${pathInHome === undefined ? "" : `${join(home.root, pathInHome)}:`}${process.env["PATH"]}`;
  const machine = parts.use(await stagingMachine(undefined, {}, path, home.root));
  const owned = parts.move();
  return {
    home: home.root,
    run: async (text: string, { wayOut = false } = {}): Promise<string> => {
      const staged = await machine.run(workspace.root, text, false, "one", wayOut ? allowed : []);
      await staged.keep(new Set());
      return staged.run.output;
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

test("a run with a way out sees nothing of what earlier commands wrote outside the workspace", async () => {
  await using one = await session({ ".npm/_cacache/x": "x\n", ".cache/node/x": "x\n", ".cache/pip/x": "x\n" });
  const places = [
    "/tmp",
    "/var/tmp",
    "/dev/shm",
    one.home,
    `${one.home}/.npm/_cacache`,
    `${one.home}/.cache/node`,
    `${one.home}/.cache/pip`,
  ];
  const plant = places.map((place, at) => `echo evil > ${place}/planted-${at}`).join("; ");
  await one.run(plant);
  await one.run(plant, { wayOut: true });
  const look = `find ${places.join(" ")} -name 'planted*' 2>/dev/null | sort -u; echo $NODE_DISABLE_COMPILE_CACHE$PYTHONDONTWRITEBYTECODE`;
  expect(await one.run(look)).toContain("/tmp/planted-0");
  // What registries served stays for the session.
  expect(await one.run(look, { wayOut: true })).toBe(`${one.home}/.npm/_cacache/planted-4\n11\n`);
});

test("nor code that they compiled in the workspace, in place of its source", async () => {
  await using one = await session();
  const forge = [
    "printf 'print(\"aaaa\")\\n' > m.py; python3 -m compileall -q --invalidation-mode unchecked-hash m.py",
    "printf 'print(\"bbbb\")\\n' > m.py",
  ].join("; ");
  await one.run(`echo __pycache__ > .gitignore; ${forge}`);
  expect(await one.run("python3 -c 'import m'")).toBe("aaaa\n");
  expect(await one.run("python3 -c 'import m'", { wayOut: true })).toBe("bbbb\n");
});

test("a program that is known and may have a lasting way out sees not even the packages that the session fetched", async () => {
  await using one = await session(
    { ".npm/_cacache/x": "x\n", ".local/bin/curl": "#!/bin/sh\nls ~/.npm/_cacache\n" },
    ".local/bin",
  );
  chmodSync(join(one.home, ".local/bin/curl"), 0o755);
  await one.run("echo > ~/.npm/_cacache/fetched", { wayOut: true });
  expect(await one.run("curl -s http://registry.example/; true", { wayOut: true })).toBe("fetched\nx\n");
  expect(await one.run("curl -s http://registry.example/", { wayOut: true })).toBe("x\n");
});

test("a program that a run left in a cache of the search path is not the one that later gets a way out", async () => {
  const pnpm = ".local/share/pnpm";
  await using one = await session({ [`${pnpm}/x`]: "x\n" }, pnpm);
  const planted = join(one.home, pnpm, "curl");
  await one.run(`printf '#!/bin/sh\necho planted\n' > ${planted}; chmod +x ${planted}`, { wayOut: true });
  expect(await one.run("curl --version")).toBe("planted\n");
  expect(await one.run("curl --version", { wayOut: true })).toMatch(/^curl \d/);
  expect(await one.run("curl --version; true", { wayOut: true })).toMatch(/^curl \d/);
});

test("it finds the files below /tmp that it names, and later commands find what it left there", async () => {
  await using one = await session();
  await one.run(
    "mkdir -p /tmp/in/deep; echo body > /tmp/in/body; echo deep > /tmp/in/deep/body; echo other > /tmp/other",
  );
  const command =
    "cat /tmp/in/body; cat '/var/tmp/in/deep/body'; ls /tmp | grep -v gennai-test; echo got > /tmp/in/got; echo now > /tmp/other";
  expect(await one.run(command, { wayOut: true })).toBe("body\ndeep\nin\nother\n");
  expect(await one.run("cat /tmp/other /tmp/in/got /tmp/in/deep/body")).toBe("now\ngot\ndeep\n");
});

test("a link below /tmp hands over no file that commands cannot read", async () => {
  await using one = await session({ "secret.txt": "the user's\n" });
  mkdirSync(join(one.home, "into"));
  await one.run(`ln -s ${one.home}/secret.txt /tmp/file; ln -s ${one.home}/into /tmp/directory`);
  const command = "cat /tmp/file; echo left > /tmp/directory/left";
  expect(await one.run(command, { wayOut: true })).not.toContain("the user's");
  expect(await one.run(`ls ${one.home}/into`)).not.toContain("left");
});

test("what later commands do not find of it is named, if it is not empty", async () => {
  await using one = await session();
  await one.run("echo > /tmp/kind");
  const left = "cd /tmp; mkdir kind; echo x > kind/x; echo y > y";
  const closed = "cd /tmp; touch closed; chmod 0 closed";
  expect(await one.run(`${left}; ${closed}`, { wayOut: true })).toBe(
    "\n[later commands do not find in /tmp: kind/x]\n",
  );
  expect(await one.run(closed, { wayOut: true })).toBe("");
  expect(await one.run("cat /tmp/y")).toBe("y\n");
});
