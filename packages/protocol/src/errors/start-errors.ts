import type { ErrorMeanings } from "./error-meaning.ts";

/** Why a server does not start, or a store does not do what it was asked. */
export const startErrors = {
  bad_bundle: { means: "the file is no bundle of Gennai, or was changed", next: "Export it again." },
  bad_certificate: {
    means: "the certificate or its key cannot be used",
    next: "Give `--tls-cert` and `--tls-key` PEM files; only you may read the key.",
  },
  bad_issuer_keys: {
    means: "the keys of the issuer of tokens cannot be looked for where `--jwks` or `--issuer` says",
    next: "Give `--jwks` an https URL, or a file with public keys.",
  },
  bad_log_address: {
    means: "`--log` names no log that servers share",
    next: "Write `nats://host:port`, or leave it out to keep everything on this machine.",
  },
  bad_server_config: {
    means: "`server.json` is there and cannot be used",
    next: "The message names the field: mend or remove it.",
  },
  bad_token: { means: "the token has characters that no header takes", next: "Use letters, digits and `-._~+/`." },
  bad_anchor: {
    means: "a head of the ledger could not be kept, or what is named is no witness file or key",
    next: "The message says which.",
  },
  busy: { means: "another process uses it", next: "The message names the process: wait for it or stop it." },
  closed: { means: "the store is closed", next: "Report it: this is a mistake in Gennai." },
  conflicting_token: { means: "`--no-auth` and a token at once", next: "Remove one of the two." },
  contradicts_anchor: {
    means: "the ledger is another one than was anchored",
    next: "Keep both as evidence; see [anchors](../ledger.md#anchored-heads).",
  },
  corrupt: {
    means: "the store is damaged",
    next: "Restore it from a backup; the ledger's file is a copy of its records.",
  },
  corrupt_blob: { means: "a kept content is damaged", next: "Restore `blobs/` from a backup." },
  disk_full: { means: "the disk is full", next: "Free some space." },
  io: { means: "the disk or the log failed", next: "The message has the system's own words." },
  newer_format: { means: "a newer Gennai wrote the store", next: "Use that version." },
  not_a_store: { means: "the file is no store of this kind", next: "Set `GENNAI_STATE_DIR` to another directory." },
  not_repairable: {
    means: "the ledger's file cannot be mended without losing evidence",
    next: "Keep it; the message says why.",
  },
  port_taken: { means: "another program listens on the port", next: "Choose another with `--port`." },
  read_only: { means: "the store cannot be written", next: "Change the permissions of the state directory." },
  rolled_back: {
    means: "the store is older than what was signed last, so nothing is recorded",
    next: "Put the newer one back, or accept the loss: `gennai doctor` says what is missing.",
  },
  sandbox_required: {
    means: "`--sandbox required`, but no sandbox is available for commands or for the server's own git",
    next: "Install bubblewrap, and git where all users see it; the hint has more.",
  },
  session_exists: { means: "a session of this id is there already", next: "Resume it." },
  stages_required: {
    means: "`--stages required`, and there is no sandbox, which stages are made of",
    next: "Install bubblewrap; the hint has more.",
  },
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
