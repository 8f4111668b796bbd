import { Backend as BackendMessage } from "../gen/gennai/agent/v1/agent_pb.ts";
import { EnumWords } from "./enum-words.ts";

/** Where a model can be. A provider is a row here, and one with its file in the server's `models/providers.ts`. */
const rows = {
  offline: { message: BackendMessage.OFFLINE, at: "server" },
  scripted: { message: BackendMessage.SCRIPTED, at: "server-file" },
  "openai-compatible": { message: BackendMessage.OPENAI_COMPATIBLE, at: "own-address" },
  ollama: { message: BackendMessage.OLLAMA, at: "own-address" },
  openai: { message: BackendMessage.OPENAI, at: "public-address" },
  anthropic: { message: BackendMessage.ANTHROPIC, at: "public-address" },
  gemini: { message: BackendMessage.GEMINI, at: "public-address" },
  editor: { message: BackendMessage.EDITOR, at: "client" },
} as const;

export type Backend = keyof typeof rows;

/** Reached over the network, mostly with a key: at the address that all know, or where its user has it run. */
export type Provider = {
  [Name in Backend]: (typeof rows)[Name]["at"] extends `${string}-address` ? Name : never;
}[Backend];

export const backendWords = new EnumWords<Backend, BackendMessage>(rows);

export const backends = backendWords.words;

export const providerNames = backends.filter((backend): backend is Provider => rows[backend].at.endsWith("-address"));

/** A provider that has no address but the one its user gives. */
export function isSelfHosted(backend: Backend): boolean {
  return rows[backend].at === "own-address";
}

const usersMay: readonly string[] = ["server", "public-address", "client"];

/** What users of a server that others run may choose: it reaches the provider's public address, the client, or nothing. */
export const publicBackends = backends.filter((backend) => usersMay.includes(rows[backend].at));
