import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { verifyWorkspaceLedger } from "#audit/ledger-verify";
import type { Store } from "#sqlite/store";
import { StoreFixture } from "../sqlite/store-fixture.ts";

/** A store and a workspace for each test of a file, and what is asked of the mirror of its ledger there. */
export class MirrorBench {
  readonly fixture: StoreFixture;
  store: Store;

  private constructor(fixture: StoreFixture, store: Store) {
    this.fixture = fixture;
    this.store = store;
  }

  static async create(): Promise<MirrorBench> {
    const fixture = await StoreFixture.create();
    return new MirrorBench(fixture, await fixture.open());
  }

  /** After the store was closed. */
  async reopen(): Promise<void> {
    this.store = await this.fixture.open();
  }

  async mirrorText(): Promise<string> {
    return readFile(this.fixture.mirror, "utf8");
  }

  /** Copies of what others had written into the file. */
  async recovered(): Promise<string[]> {
    const directory = join(this.fixture.stateDir, "recovered");
    const names = await readdir(directory).catch(() => []);
    return Promise.all(names.map((name) => readFile(join(directory, name), "utf8")));
  }

  /** The mirror, its head and the store agree, and have so many records. */
  expectSound(records: number): Promise<void> {
    return expectSound(this.fixture, records);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.store[Symbol.asyncDispose]();
    await this.fixture[Symbol.asyncDispose]();
  }
}

async function expectSound({ root: workspaceRoot, stateDir }: StoreFixture, records: number): Promise<void> {
  expect(await verifyWorkspaceLedger({ workspaceRoot, stateDir })).toMatchObject({
    status: "ok",
    records,
    compared: { head: true, store: true },
  });
}
