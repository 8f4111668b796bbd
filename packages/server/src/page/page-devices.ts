import { createPublicKey, type KeyObject, randomUUID, verify } from "node:crypto";
import { loginText } from "@gennai/protocol/page-paths";
import { PrivateJson } from "@gennai/store/private-json";
import { z } from "zod";

/** A browser that the user let in for longer. It has a key of its own; here is only its public part. */
const deviceSchema = z.strictObject({
  id: z.uuid(),
  /** What the browser says it is; one line. */
  name: z.string().max(200),
  /** Where the page was when it was remembered, e.g. `http://127.0.0.1:7777`. The key counts nowhere else. */
  origin: z.string().max(300),
  /** ECDSA P-256, SPKI in DER, base64. */
  publicKey: z.string().max(400),
  /** Milliseconds since the epoch. */
  created: z.number(),
  used: z.number(),
  expires: z.number(),
});
export type PageDevice = Readonly<z.infer<typeof deviceSchema>>;

const lifetimeMs = 30 * 24 * 60 * 60_000;
const mostDevices = 16;

/** The remembered browsers of a server's one user. */
export class PageDevices {
  readonly #file: PrivateJson<readonly PageDevice[]>;
  readonly #now: () => number;

  /** @param now milliseconds since the epoch */
  constructor(stateDir: string, now: () => number = Date.now) {
    this.#file = new PrivateJson(stateDir, "page-devices.json", { schema: z.array(deviceSchema), nothing: [] });
    this.#now = now;
  }

  /** Those that may come in, newest first. */
  async list(): Promise<readonly PageDevice[]> {
    return this.#valid(await this.#file.read());
  }

  /** Undefined for what is no key of the one kind that counts. The oldest gives way when there are too many. */
  async remember(asked: Pick<PageDevice, "name" | "origin" | "publicKey">): Promise<PageDevice | undefined> {
    if (keyOf(asked.publicKey) === undefined) return undefined;
    const created = this.#now();
    const device = { ...asked, id: randomUUID(), created, used: created, expires: created + lifetimeMs };
    await this.#change((known) => [device, ...known].slice(0, mostDevices));
    return device;
  }

  /** @param id undefined: all */
  async forget(id?: string): Promise<void> {
    await this.#change((known) => (id === undefined ? [] : known.filter((device) => device.id !== id)));
  }

  /** Whether a remembered browser signed this nonce at this origin; its time is not prolonged. */
  async proves({
    id,
    origin,
    nonce,
    signature,
  }: Pick<PageDevice, "id" | "origin"> & { readonly nonce: string; readonly signature: string }): Promise<boolean> {
    const device = (await this.list()).find((each) => each.id === id && each.origin === origin);
    const key = device && keyOf(device.publicKey);
    if (key === undefined) return false;
    const signed = Buffer.from(signature, "base64");
    if (!verify("sha256", Buffer.from(loginText(origin, nonce)), { key, dsaEncoding: "ieee-p1363" }, signed))
      return false;
    await this.#change((known) => known.map((each) => (each.id === id ? { ...each, used: this.#now() } : each)));
    return true;
  }

  #change(change: (known: readonly PageDevice[]) => readonly PageDevice[]): Promise<void> {
    return this.#file.change((known) => change(this.#valid(known)));
  }

  #valid(known: readonly PageDevice[]): readonly PageDevice[] {
    return known.filter(({ expires }) => expires > this.#now());
  }
}

function keyOf(publicKey: string): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, "base64"), format: "der", type: "spki" });
    const { namedCurve } = key.asymmetricKeyDetails ?? {};
    return key.asymmetricKeyType === "ec" && namedCurve === "prime256v1" ? key : undefined;
  } catch {
    return undefined;
  }
}
