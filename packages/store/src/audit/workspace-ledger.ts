import { readFile } from "node:fs/promises";
import type { AnchorReport } from "@gennai/governance/ledger/anchor/check-anchors";
import { recordLines } from "@gennai/governance/ledger/laid-out-records";
import { type LedgerLocation, ledgerPathOf } from "../ledger/file/ledger-file-name.ts";
import { ledgerPublicKeyFile } from "../ledger/ledger-key.ts";
import type { MemoryPurge } from "../purge/purge-memory.ts";
import { type BundlePart, usualBundleParts } from "./bundle-parts.ts";
import type { AnchoredHead, AnchorSources } from "./ledger-anchors.ts";
import { type LedgerLineFormat, ledgerLines } from "./ledger-export.ts";
import type { LedgerRepair } from "./ledger-repair.ts";
import { verifyWorkspaceLedger, type WorkspaceLedgerReport } from "./ledger-verify.ts";

/** The ledger of one workspace, for a person at a terminal: no server need run. What only some need is loaded for them. */
export class WorkspaceLedger {
  readonly #location: LedgerLocation;

  constructor(location: LedgerLocation) {
    this.#location = location;
  }

  /** Absolute path of its file, whether it is there or not. */
  get file(): string {
    return ledgerPathOf(this.#location);
  }

  /**
   * Against signatures, chain, signed head and store. With a public key (a file with SPKI PEM) as a third party checks it:
   * signatures and chain by this key alone.
   */
  verify(publicKeyFile?: string): Promise<WorkspaceLedgerReport> {
    const { workspaceRoot } = this.#location;
    return verifyWorkspaceLedger(publicKeyFile === undefined ? this.#location : { workspaceRoot, publicKeyFile });
  }

  /** Whether the ledger, which is sound, has the heads that were kept of it. Rejects with `StoreError` `bad_anchor`. */
  async anchors(sources: AnchorSources, publicKeyFile?: string): Promise<AnchorReport> {
    const { findAnchors } = await import("./ledger-anchors.ts");
    const pem = await readFile(publicKeyFile ?? ledgerPublicKeyFile(this.#location.stateDir), "utf8");
    const lines =
      publicKeyFile === undefined ? ledgerLines(this.#location) : recordLines(await readFile(this.file, "utf8"));
    return findAnchors(lines, sources, pem);
  }

  /** Signs its head and keeps that somewhere else. Rejects with `StoreError` `bad_anchor`, `contradicts_anchor`. */
  async anchor(to: { readonly file: string } | { readonly git: true }): Promise<AnchoredHead> {
    const { addAnchor } = await import("./ledger-anchors.ts");
    return addAnchor(this.#location, to, Date.now);
  }

  /** From the store, else a torn last line is cut; a copy is kept. Rejects with `StoreError` `not_repairable`, `rolled_back`. */
  async repair(): Promise<LedgerRepair> {
    const { repairWorkspaceLedger } = await import("./ledger-repair.ts");
    return repairWorkspaceLedger(this.#location);
  }

  /**
   * Pieces of text to write one after the other, redacted once more by the rules of today.
   * @param parts what is in it besides the chain; lines have no place for `prompts`
   */
  async *export(
    format: LedgerLineFormat | "bundle",
    parts: ReadonlySet<BundlePart> = new Set(usualBundleParts),
  ): AsyncGenerator<string, void, undefined> {
    const { createRedactor } = await import("@gennai/machine/redaction/redactor");
    const { rememberingRedactor } = await import("./remembering-redactor.ts");
    const redactor = rememberingRedactor(await createRedactor());
    if (format === "bundle") {
      const { exportLedgerBundle } = await import("./export-bundle.ts");
      yield* exportLedgerBundle(this.#location, { redactor, now: Date.now, parts });
      return;
    }
    const { exportLedgerLines } = await import("./ledger-export.ts");
    for await (const line of exportLedgerLines(this.#location, { format, redactor, parts })) yield `${line}\n`;
  }

  /** Forgets one session, or all of the workspace, for good. Rejects with `StoreError`. */
  async purge(request: { readonly sessionId?: string; readonly toolVersion: string }): Promise<MemoryPurge> {
    const { purgeMemory } = await import("../purge/purge-memory.ts");
    return purgeMemory({ ...this.#location, ...request });
  }
}
