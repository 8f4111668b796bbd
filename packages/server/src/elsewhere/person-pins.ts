import { randomBytes, randomInt, scrypt, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { findPrivateFile } from "@gennai/machine/private-file";
import { replaceFile } from "@gennai/machine/replace-file";
import { z } from "zod";

const derived = promisify<string, Buffer, number, Buffer>(scrypt);
const keyBytes = 32;

const pinsSchema = z.record(z.string(), z.strictObject({ salt: z.base64(), key: z.base64() }));
type Pins = z.infer<typeof pinsSchema>;

/** The PINs of the people who answer from elsewhere: only scrypt's result is kept, in a private file of the state directory. */
export class PersonPins {
  readonly #path: string;

  constructor(stateDir: string) {
    this.#path = join(stateDir, "people-pins.json");
  }

  /** A new PIN of eight digits for a person; the one before is good no more. */
  async renew(person: string): Promise<string> {
    const pin = String(randomInt(100_000_000)).padStart(8, "0");
    const salt = randomBytes(16);
    const key = await derived(pin, salt, keyBytes);
    const kept = { salt: salt.toString("base64"), key: key.toString("base64") };
    await replaceFile(this.#path, `${JSON.stringify({ ...(await this.#read()), [person]: kept }, undefined, 2)}\n`);
    return pin;
  }

  async has(person: string): Promise<boolean> {
    return Object.hasOwn(await this.#read(), person);
  }

  /** False as well for a person without a PIN, after the same time. */
  async proves(person: string, pin: string): Promise<boolean> {
    const pins = await this.#read();
    const kept = Object.hasOwn(pins, person) ? pins[person] : undefined;
    const key = await derived(pin, Buffer.from(kept?.salt ?? "", "base64"), keyBytes);
    return kept !== undefined && timingSafeEqual(key, Buffer.from(kept.key, "base64"));
  }

  async #read(): Promise<Pins> {
    const text = await findPrivateFile(this.#path);
    return text === undefined ? {} : pinsSchema.parse(JSON.parse(text));
  }
}
