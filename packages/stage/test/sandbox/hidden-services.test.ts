import { once } from "node:events";
import { chmodSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { readHostLayout } from "@gennai/machine/host/host-layout";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { withoutRoot } from "@gennai/testkit/without-root";
import { expect, test } from "vitest";
import { hideBelow } from "#sandbox/bubblewrap-arguments";
import { stagingMachine } from "../../../shell/test/staging-machine.ts";

test("a service that fetches for anyone who connects to it stays hidden", () => {
  const layout = readHostLayout({
    home: "/nonexistent",
    environment: { PATH: "/nix/var/nix/profiles/default/bin" },
    privateDirectories: [],
  });
  expect(layout.hidden).toContain("/nix/var/nix/daemon-socket");
  expect(layout.readable.filter((path) => path.startsWith("/nix/var/nix/daemon-socket"))).toEqual([]);
});

test("a service whose socket lies in a directory that commands read is not there for them", async () => {
  await using machine = await stagingMachine(undefined, { ".nvm/versions/readme": "a tool\n" });
  await using repository = await temporaryRepository({ "a.txt": "1\n" });
  const socket = join(machine.home, ".nvm/versions/daemon.sock");
  let asked = 0;
  const daemon = createServer((_request, response) => response.end(`daemon ${(asked += 1)}`)).listen(socket);
  await once(daemon, "listening");
  const connect = `cat ${join(machine.home, ".nvm/versions/readme")}; curl -sS -m 10 --unix-socket ${socket} http://daemon/ 2>&1; true`;
  for (const allowed of [[], [{ host: "data.example", port: 80 }]]) {
    const staged = await machine.run(repository.root, connect, false, undefined, allowed);
    expect(staged.run.output).toMatch(/^a tool\ncurl: \(7\)/);
    await staged.drop();
  }
  expect(asked).toBe(0);
  daemon.close();
});

test("of a service in a directory that the user may not enter, that directory is hidden, and commands run", async () => {
  await using directory = await temporaryDirectory({ "one/closed/below/readme": "", "two/closed/readme": "" });
  await using user = await temporaryDirectory();
  const daemons = ["one/closed/below/daemon.sock", "two/closed/daemon.sock"].map((path) =>
    createServer().listen(directory.path(path)),
  );
  await Promise.all(daemons.map((daemon) => once(daemon, "listening")));
  const closed = ["one/closed", "two/closed"].map(directory.path);
  for (const path of ["", "one", "two"]) chmodSync(directory.path(path), 0o755);
  for (const path of closed) chmodSync(path, 0);
  try {
    const view = { layout: { hidden: [], readable: [], links: [], caches: [], home: undefined }, empty: user.root };
    const hidden = await withoutRoot(user.root, async () => hideBelow([directory.root], view));
    // A command could open a directory that is the user's own.
    const mounts = [hidden.slice(0, 3), hidden.slice(3)].toSorted(([, , one = ""], [, , other = ""]) =>
      one < other ? -1 : 1,
    );
    expect(mounts).toEqual(closed.map((path) => ["--ro-bind", user.root, path]));
  } finally {
    for (const path of closed) chmodSync(path, 0o755);
    for (const daemon of daemons) daemon.close();
  }
});
