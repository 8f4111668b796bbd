import { setImmediate as nextTurn } from "node:timers/promises";
import { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import type { SessionLog } from "@gennai/store/log/session-log";
import { openStore } from "@gennai/store/sqlite/store";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { OwnedLog } from "#session/owned-log";
import { SessionState } from "#session/state/session-state";

test("what a session itself is writing, and can be read before it is on the disk, is not taken for another server's", async () => {
  await using directory = await temporaryDirectory();
  await using store = await openStore(directory.path("state"), { onWarning: () => undefined });
  const head = await store.log.create({ sessionId: "s", workspaceRoot: directory.root, time: 1 });
  const [committed, onDisk] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const log: Pick<SessionLog, "append" | "head" | "read" | "takeOver"> = {
    append: async (...batch) => {
      const events = await store.log.append(...batch);
      committed.resolve();
      await onDisk.promise;
      return events;
    },
    head: (id) => store.log.head(id),
    read: (...page) => store.log.read(...page),
    takeOver: (id) => store.log.takeOver(id),
  };
  const owned = new OwnedLog(
    {
      // Only these are an owned log's.
      log: log as SessionLog,
      locks: new ProcessLocks(directory.path("locks")),
      callers: { current: () => undefined },
      redactor: { redact: async (text) => text } as ConstructorParameters<typeof OwnedLog>[0]["redactor"],
      now: () => 1,
    },
    head,
    new SessionState(),
  );
  const written = owned.writer.commit([{ type: "warning", text: "w" }], { turnId: "", durable: true });
  await committed.promise;
  const looked = owned.takeOverIfBehind();
  // The look is through by then, unless it waits.
  await nextTurn();
  onDisk.resolve();
  await Promise.all([written, looked]);
  expect(await store.log.head("s")).toMatchObject({ lastSeq: 1, epoch: head.epoch });
  await owned.writer.commit([{ type: "warning", text: "w" }], { turnId: "", durable: true });
});
