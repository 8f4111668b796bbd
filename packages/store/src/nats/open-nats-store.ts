import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { prepareStateDirectory } from "@gennai/machine/config/state-directory";
import { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import type { JsMsg } from "@nats-io/jetstream";
import { databaseFile, StoreDatabase } from "../database/database.ts";
import { StoreError } from "../database/store-error.ts";
import { openLedgers } from "../ledger/open-ledgers.ts";
import { LiveForgetting } from "../purge/live-forgetting.ts";
import { FileBlobStore } from "../sqlite/file-blob-store.ts";
import { SqliteSessionLog } from "../sqlite/sqlite-session-log.ts";
import { type Store, type StoreOptions } from "../sqlite/store.ts";
import { takeInto } from "./copy-trust.ts";
import { createOnce } from "./create-once.ts";
import type { LogAddress } from "./log-address.ts";
import { type ArrivedMessage, LogCopy } from "./log-copy.ts";
import { logFormatSubject, refuseNewerLog } from "./log-format.ts";
import {
  decodeLock,
  decodeMessage,
  parseLockSubject,
  parseSessionSubject,
  type SessionMessage,
} from "./log-message.ts";
import { type LogStreams, openLogStreams, patiently } from "./log-streams.ts";
import { chainLink } from "./message-chain.ts";
import { NatsBlobStore } from "./nats-blob-store.ts";
import { NatsSessionLog } from "./nats-session-log.ts";
import { StreamFollower } from "./stream-follower.ts";

export interface NatsStore extends Store {
  readonly log: NatsSessionLog;
  readonly streams: LogStreams;
  readonly follower: StreamFollower;
  readonly copy: LogCopy;
}

export interface NatsStoreOptions extends StoreOptions {
  readonly address: LogAddress;
  /** Id of this process's replica; empty for a process that owns no sessions. */
  readonly replicaId: string;
  /** Called once the streams exist. */
  readonly isAlive: (streams: LogStreams, replicaId: string) => Promise<boolean>;
  /** Takes messages that belong to no session, in the log's order; may be asked again after a crash. */
  readonly onControl?: (message: {
    readonly position: number;
    readonly subject: string;
    readonly payload: Uint8Array;
  }) => void;
  /** Called when this replica can no longer follow the log. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Opens a log in NATS, with this replica's copy of it in a state directory of its own. Resolves when the copy is up to date.
 * Rejects with `StoreError`.
 */
export async function openNatsStore(stateDir: string, options: NatsStoreOptions): Promise<NatsStore> {
  const { address, replicaId, onWarning, toolVersion } = options;
  const directory = await prepareStateDirectory(stateDir);
  await using parts = new AsyncDisposableStack();
  parts.use(onlyProcess(directory));
  const database = parts.use(await StoreDatabase.open(databaseFile(directory)));
  const ledgers = await openLedgers(database, { stateDir: directory, shared: true, onWarning });
  const { table, mirror, watch, signer } = ledgers;
  const blobDirectory = join(directory, "blobs");
  await mkdir(blobDirectory, { recursive: true, mode: 0o700 });
  const forgetting = new LiveForgetting({ database, table, mirror, watch, stateDir: directory, onWarning });
  const sessions = new SqliteSessionLog(database, table, forgetting);
  const streams = parts.use(await openLogStreams(address, { name: replicaId || "gennai", onWarning }));
  const copy = new LogCopy(database, sessions, {
    stream: streams.log.stream,
    mirrors: (owner) => owner === replicaId,
  });
  const trusted = { copy, streams, stateDir: directory, isFresh: copy.position === 0 };
  const blobs = new NatsBlobStore(streams.objects, new FileBlobStore(blobDirectory));
  await patiently(() => agreeOnKey(streams, signer.keyId, directory));
  const follower = parts.use(
    new StreamFollower(streams.log, {
      position: () => copy.position,
      take: async (messages) => {
        const formatSubject = logFormatSubject(streams.namespace);
        for (const { subject, data } of messages) {
          // A newer Gennai raised the format meanwhile: this one may not understand what follows.
          if (subject === formatSubject) refuseNewerLog(streams.namespace, new TextDecoder().decode(data));
        }
        const found = await Promise.all(messages.map((each) => arrived(each, blobs)));
        let from = 0;
        for (const [index, { subject, seq, data }] of messages.entries()) {
          if (!subject.startsWith(`${streams.namespace}.ctl.emergency.`)) continue;
          // All earlier messages first, because a control message writes to the ledgers too.
          await takeInto(trusted, found.slice(from, index));
          from = index;
          options.onControl?.({ position: seq, subject, payload: data });
        }
        await takeInto(trusted, found.slice(from));
        // Not awaited, so that the log is followed meanwhile.
        if (found.some(({ message }) => message?.kind === "forget")) void forgetting.finish();
      },
      onFailure: options.onFailure,
    }),
  );
  await follower.caughtUp();
  await watch.look();
  await forgetting.finish();
  mirror.catchUp();
  const log = new NatsSessionLog({
    streams,
    copy,
    sessions,
    follower,
    blobs,
    replicaId,
    stateDir: directory,
    toolVersion: toolVersion ?? "unknown",
    isAlive: (other) => options.isAlive(streams, other),
    afterForgetting: (sessionId) => forgetting.finishAbsorbed(sessionId),
  });
  const opened = parts.move();
  return {
    stateDir: directory,
    log,
    blobs,
    streams,
    follower,
    copy,
    flushLedgers: () => ledgers.flush(),
    assertForward: () => watch.assertForward(),
    get isForward() {
      return watch.stepBacks.length === 0;
    },
    async [Symbol.asyncDispose]() {
      await log[Symbol.asyncDispose]();
      await forgetting[Symbol.asyncDispose]();
      await ledgers[Symbol.asyncDispose]();
      await opened.disposeAsync();
    },
  };
}

async function arrived(message: JsMsg, blobs: NatsBlobStore): Promise<ArrivedMessage> {
  const { subject, seq: position } = message;
  if (parseSessionSubject(subject) === undefined) {
    const lock = parseLockSubject(subject) === undefined ? {} : { lock: decodeLock(message.data) };
    return { position, subject, message: undefined, ...lock };
  }
  const decoded = decodeMessage(message.data);
  return {
    position,
    subject,
    link: chainLink(message),
    message: decoded.kind === "elsewhere" ? await fetched(decoded.sha256, blobs) : decoded,
  };
}

async function fetched(sha256: string, blobs: NatsBlobStore): Promise<SessionMessage> {
  const bytes = await blobs.get(sha256);
  if (bytes === undefined) throw new StoreError("corrupt", `The log lacks the content ${sha256}: restore NATS.`);
  return decodeMessage(bytes);
}

/** Excludes a second process, which would write to the same copy. */
function onlyProcess(directory: string): Disposable {
  const attempt = new ProcessLocks(join(directory, "locks")).tryAcquire("log copy", "is a replica");
  if (attempt.type === "acquired") return attempt.lock;
  throw new StoreError(
    "busy",
    `Another replica (process ${attempt.pid}) uses ${directory}: set GENNAI_STATE_DIR to a directory of its own for each.`,
  );
}

/** All replicas seal the ledgers with one key, so that their copies are the same byte for byte. */
async function agreeOnKey({ log, namespace }: LogStreams, keyId: string, directory: string): Promise<void> {
  const subject = `${namespace}.ctl.ledger-key`;
  const payload = new TextEncoder().encode(keyId);
  const creation = await createOnce(log, subject, { id: `ledger-key.${keyId}`, payload });
  if (creation.type === "created") return;
  const found = await log.manager.streams.getMessage(log.stream, { last_by_subj: subject });
  const agreed = found === null ? "" : new TextDecoder().decode(found.data);
  if (agreed === keyId) return;
  throw new StoreError(
    "unsafe_key",
    `The replicas of this log sign with key ${agreed}, but ${directory} has ${keyId}. Copy keys/ from another replica's state directory before the first start.`,
  );
}
