import type { ErrorMeanings } from "./error-meaning.ts";

/** Why a server does not start, or a store does not do what it was asked. */
export const startErrors = {
  bad_bundle: { means: "the file is not a bundle of Gennai, or was changed", next: "Export it again." },
  bad_certificate: {
    means: "the certificate or its key cannot be used",
    next: "Give `--tls-cert` and `--tls-key` PEM files; only you may read the key.",
  },
  bad_issuer_keys: {
    means: "`--jwks` or `--issuer` does not say where the keys of the issuer of tokens can be found",
    next: "Give `--jwks` an https URL, or a file with public keys.",
  },
  bad_log_address: {
    means: "`--log` does not name a log that servers can share",
    next: "Write `nats://host:port`, or leave it out to keep everything on this machine.",
  },
  bad_server_config: {
    means: "`server.json` cannot be used",
    next: "The message names the field: correct or remove it.",
  },
  bad_token: {
    means: "the token has characters that are not possible in a header",
    next: "Use letters, digits and `-._~+/`.",
  },
  bad_anchor: {
    means: "a head of the ledger could not be anchored, or the named file or key is not one of a witness",
    next: "The message says which.",
  },
  busy: { means: "another process uses it", next: "The message names the process: wait for it or stop it." },
  closed: { means: "the store is closed", next: "Report it: this is a mistake in Gennai." },
  conflicting_token: { means: "`--no-auth` and a token at once", next: "Remove one of the two." },
  contradicts_anchor: {
    means: "the ledger is not the one that was anchored",
    next: "Keep both as evidence; see [anchors](../ledger.md#anchored-heads).",
  },
  corrupt: {
    means: "the store is damaged",
    next: "Restore it from a backup; the ledger's file is a copy of its records.",
  },
  corrupt_blob: { means: "a kept content is damaged", next: "Restore `blobs/` from a backup." },
  disk_full: { means: "the disk is full", next: "Free some space." },
  io: { means: "the disk or the log failed", next: "The message has the text of the system." },
  newer_format: { means: "a newer Gennai wrote the store", next: "Use that version." },
  not_a_store: { means: "the file is not a store of this kind", next: "Set `GENNAI_STATE_DIR` to another directory." },
  not_repairable: {
    means: "the ledger's file cannot be repaired without losing evidence",
    next: "Keep it; the message says why.",
  },
  port_taken: { means: "another program listens on the port", next: "Choose another with `--port`." },
  read_only: { means: "the store cannot be written", next: "Change the permissions of the state directory." },
  rolled_back: {
    means: "the store is older than what was signed last, so nothing is recorded",
    next: "Put the newer one back, or accept the loss: `gennai doctor` says what is missing.",
  },
  sandbox_required: {
    means: "`--commands staged`, but no sandbox is available for commands or for the server's own git",
    next: "Install bubblewrap, and install git for all users; the hint has more.",
  },
  session_exists: { means: "there is already a session with this id", next: "Resume it." },
  unavailable: {
    means: "the NATS servers of the log do not answer",
    next: "Start them; see [operations](../operations.md).",
  },
  unknown_session: { means: "there is no such session", next: "`gennai sessions --all` lists them." },
  unsafe_key: {
    means: "the ledger's key can be read by others, or is not that of the log",
    next: "The message says which.",
  },
  unsafe_state_directory: {
    means: "others can write to the state directory",
    next: "`chmod 700` it, or set `GENNAI_STATE_DIR`.",
  },
} as const satisfies ErrorMeanings;
