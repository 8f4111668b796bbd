import { loginText, PAGE_DEVICES_PATH, PAGE_LOGIN_PATH } from "@gennai/protocol/page-paths";
import * as z from "zod/mini";

const deviceSchema = z.object({ id: z.string(), name: z.string(), used: z.number(), expires: z.number() });
/** A browser that the server remembers; times in milliseconds since the epoch. */
export type KnownDevice = z.output<typeof deviceSchema>;

const listSchema = z.object({ id: z.optional(z.string()), devices: z.array(deviceSchema) });
const nonceSchema = z.object({ nonce: z.string() });
const tokenSchema = z.object({ token: z.string() });

const kind = { name: "ECDSA", namedCurve: "P-256" } as const;

/** This browser's own key: nobody can take it out of the browser, and it counts only at this address. */
interface KeptKey {
  readonly id: string;
  readonly key: CryptoKey;
}

/** The token of this page; undefined: this browser has no key. Rejects where the server does not know it any more. */
export async function loginByDevice(page: Window): Promise<string | undefined> {
  const kept = await keptKey(page);
  if (kept === undefined) return undefined;
  const { nonce } = nonceSchema.parse(await post(PAGE_LOGIN_PATH, {}));
  const text = new TextEncoder().encode(loginText(page.location.origin, nonce));
  const signature = await page.crypto.subtle.sign({ name: kind.name, hash: "SHA-256" }, kept.key, text);
  const answer = await post(PAGE_LOGIN_PATH, { proof: { id: kept.id, nonce, signature: base64(signature) } });
  return tokenSchema.parse(answer).token;
}

/** Browsers that are remembered, for the page's user. @param token gives the page's token */
export class PageDevices {
  readonly #page: Window;
  readonly #token: () => Promise<string>;

  constructor(page: Window, token: () => Promise<string>) {
    this.#page = page;
    this.#token = token;
  }

  async list(): Promise<readonly KnownDevice[]> {
    return (await this.#ask({})).devices;
  }

  /** The id of this browser, if it is remembered. */
  async own(): Promise<string | undefined> {
    return (await keptKey(this.#page))?.id;
  }

  async remember(): Promise<void> {
    const { crypto, navigator } = this.#page;
    const { publicKey, privateKey } = await crypto.subtle.generateKey(kind, false, ["sign"]);
    const spki = base64(await crypto.subtle.exportKey("spki", publicKey));
    const { id } = await this.#ask({ remember: { name: navigator.userAgent.slice(0, 200), publicKey: spki } });
    if (id !== undefined) await keys(this.#page, "readwrite", (store) => store.put({ id, key: privateKey }, own));
  }

  async forget(id: string): Promise<void> {
    const isOwn = (await this.own()) === id;
    if (isOwn) await keys(this.#page, "readwrite", (store) => store.delete(own));
    await this.#ask({ forget: id });
    // Its pages are shut out with it, this one, too, if the key opened it.
    if (isOwn) this.#page.location.reload();
  }

  async #ask(body: unknown) {
    return listSchema.parse(await post(PAGE_DEVICES_PATH, body, await this.#token()));
  }
}

/** Only a secure context has keys, e.g. `https:` and `http://127.0.0.1`. */
export function canRemember(page: Window): boolean {
  return page.isSecureContext && "indexedDB" in page;
}

async function post(path: string, body: unknown, token = ""): Promise<unknown> {
  const response = await fetch(path, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      ...(token === "" ? {} : { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
    credentials: "omit",
    redirect: "error",
  });
  if (!response.ok) throw new Error(`The server refused this page (${response.status}). Open it by a new link.`);
  return response.json();
}

const own = "own";

async function keptKey(page: Window): Promise<KeptKey | undefined> {
  if (!canRemember(page)) return undefined;
  const found: unknown = await keys(page, "readonly", (store) => store.get(own));
  if (typeof found !== "object" || found === null) return undefined;
  const id: unknown = Reflect.get(found, "id");
  const key: unknown = Reflect.get(found, "key");
  return typeof id === "string" && key instanceof CryptoKey ? { id, key } : undefined;
}

/** Runs one request on the browser's store of keys. */
function keys<Result>(
  page: Window,
  mode: IDBTransactionMode,
  request: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const opening = page.indexedDB.open("gennai", 1);
  opening.onupgradeneeded = () => void opening.result.createObjectStore("keys");
  opening.onerror = () => reject(opening.error);
  opening.onsuccess = () => {
    const asked = request(opening.result.transaction("keys", mode).objectStore("keys"));
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
    opening.result.close();
  };
  return promise;
}

function base64(bytes: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}
