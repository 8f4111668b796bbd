import { equal, ok, rejects } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { NotObservable } from "#transaction/stage-error";
import { removeTransaction } from "#transaction/transaction";
import type { Scenarios } from "../run-scenarios.ts";
import { StageFixture } from "../stage-fixture.ts";

/** Takes what a command hands it by a socket, and has it open until its input ends. */
const receiver = `
import array, socket, sys
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print("ready", flush=True)
c = s.accept()[0]; c.recvmsg(1, socket.CMSG_LEN(4)); sys.stdin.read()
`;
const handing = (open: string): string => `echo made > new.txt; mkdir d; python3 - <<'EOF'
import array, os, socket, time
s = socket.socket(socket.AF_UNIX); s.connect("/tmp/s")
s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [${open}]))])
EOF`;

/** What holds where a process goes on beside a command, which can hand it what it has open. */
export const scenarios: Scenarios = {
  "keeps nothing that a process beside the command has open, be it a file or a directory": async () => {
    for (const open of [
      `os.open("new.txt", os.O_RDWR)`,
      `os.open("a.txt", os.O_RDWR)`,
      `os.open("a.txt", os.O_RDONLY)`,
      `os.open("d", os.O_RDONLY)`,
      `os.open(".", os.O_PATH)`,
    ]) {
      await using fixture = new StageFixture({ "a.txt": "a\n" });
      const socket = join(fixture.machine.temporary, "s");
      const beside = spawn("/usr/bin/python3", ["-c", receiver, socket], { stdio: ["pipe", "pipe", "inherit"] });
      const gone = once(beside, "exit");
      await once(beside.stdout, "data");
      await rejects(fixture.stage(handing(open)), NotObservable, open);
      equal(fixture.read("a.txt"), "a\n");
      ok(!existsSync(join(fixture.root, "new.txt")));
      beside.stdin.end();
      await gone;
      const { observation, transaction } = await fixture.stage("echo made > new.txt");
      equal(observation.effects.length, 1);
      await removeTransaction(transaction);
    }
  },
};
