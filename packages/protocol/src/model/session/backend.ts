import { getOption } from "@bufbuild/protobuf";
import { Backend as BackendMessage, BackendSchema, label, self_hosted } from "../../gen/gennai/agent/v1/agent_pb.ts";
import { EnumWords, namesAsWords } from "../enum-words.ts";

/** Where a model can be: the values of the protocol's enum. A provider is one of them, and a row in the server's `models/providers.ts`. */
export const backendWords = new EnumWords(namesAsWords(BackendMessage));

export const backends = backendWords.words;

export type Backend = (typeof backends)[number];

/** Reached over the network, mostly with a key: at the address that all know, or where its user has it run. */
export const providerNames = backends.filter(
  // The server itself, a file that it reads, and an attached client's own model.
  (backend) => backend !== "offline" && backend !== "scripted" && backend !== "editor",
);

export type Provider = (typeof providerNames)[number];

/** A provider that has no address but the one its user gives. */
export function isSelfHosted(backend: Backend): boolean {
  const value = BackendSchema.value[backendWords.toMessage(backend)];
  return value !== undefined && getOption(value, self_hosted);
}

/** As people know it: "Google Gemini". */
export function backendLabel(backend: Backend): string {
  const value = BackendSchema.value[backendWords.toMessage(backend)];
  return (value !== undefined && getOption(value, label)) || backend;
}

/** What users of a server that others run may choose: it reaches the provider's public address, the client, or nothing. */
export const publicBackends = backends.filter((backend) => backend !== "scripted" && !isSelfHosted(backend));
