import { createPublicKey, type KeyObject, verify } from "node:crypto";

/** Fields of ssh's messages, one after another (RFC 4251). Throws where there is none. */
export class SshFields {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  byte(): number {
    return this.#bytes.readUInt8((this.#at += 1) - 1);
  }

  uint32(): number {
    return this.#bytes.readUInt32BE((this.#at += 4) - 4);
  }

  /** A text or number with its length before it. */
  bytes(): Buffer {
    const length = this.uint32();
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError("The message ends before its field does.");
    return this.#bytes.subarray(this.#at, (this.#at = end));
  }

  text(): string {
    return this.bytes().toString("latin1");
  }
}

/** Whether the owner of a key signed a text; false for a kind of key that is not known. @param key, signature as ssh sends them */
export function hasSigned(key: Buffer, text: Buffer, signature: Buffer): boolean {
  try {
    const said = new SshFields(signature);
    const [kind, bytes] = [said.text(), said.bytes()];
    const fields = new SshFields(key);
    const type = fields.text();
    if (!said.isAtEnd) return false;
    if (type === "ssh-ed25519" && kind === type) {
      return verify(null, text, keyOf({ kty: "OKP", crv: "Ed25519", x: fields.bytes() }), bytes);
    }
    const [, rsaHash] = /^rsa-sha2-(256|512)$/.exec(kind) ?? [];
    if (type === "ssh-rsa" && rsaHash !== undefined) {
      const [e, n] = [fields.bytes(), fields.bytes()];
      return verify(`sha${rsaHash}`, text, keyOf({ kty: "RSA", e: unsigned(e), n: unsigned(n) }), bytes);
    }
    const [, bits = ""] = /^ecdsa-sha2-nistp(256|384|521)$/.exec(type) ?? [];
    if (bits === "" || kind !== type) return false;
    fields.text();
    const point = fields.bytes();
    const size = Math.ceil(Number(bits) / 8);
    if (point.length !== 1 + 2 * size || point[0] !== 4) return false;
    const pair = new SshFields(bytes);
    const [r, s] = [unsigned(pair.bytes()), unsigned(pair.bytes())];
    const whole = Buffer.concat([Buffer.alloc(size - r.length), r, Buffer.alloc(size - s.length), s]);
    const curve = { kty: "EC", crv: `P-${bits}`, x: point.subarray(1, 1 + size), y: point.subarray(1 + size) };
    const hash = { 256: "sha256", 384: "sha384", 521: "sha512" }[bits];
    return verify(hash, text, { key: keyOf(curve), dsaEncoding: "ieee-p1363" }, whole);
  } catch {
    return false;
  }
}

/** A number without the zeros before it. */
function unsigned(bytes: Buffer): Buffer {
  const at = bytes.findIndex((byte) => byte !== 0);
  return at < 0 ? Buffer.alloc(0) : bytes.subarray(at);
}

function keyOf(fields: Readonly<Record<string, string | Buffer>>): KeyObject {
  const key = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === "string" ? value : value.toString("base64url"),
    ]),
  );
  return createPublicKey({ key, format: "jwk" });
}
