import { canonicalJson } from "@gennai/protocol/canonical-json";
import { type DocumentNode, type FieldNode, Kind, parse, print, visit } from "graphql";
import { z } from "zod";
import {
  type BodyReader,
  type LoginRequest,
  type LoginUse,
  type RequestMeaning,
  saysJson,
} from "../../network/added-login.ts";

/** Headers that choose a version or a form of the answer. */
const headers: readonly string[] = ["content-type", "x-github-api-version", "graphql-features", "time-zone"];

/**
 * What may be done with a login at the API of GitHub: read it, by GET and by queries; and change something, each time after a yes
 * to exactly the request.
 *
 * @param api paths: `root` of all that is asked by path, with a slash at its end
 * @param authorization value of the header
 */
export function ghUse(
  api: { readonly root: string; readonly graphql: string },
  authorization: string,
  request: LoginRequest,
): LoginUse | undefined {
  const { method, path, query, headers: given } = request;
  if (given["content-encoding"] !== undefined) return undefined;
  if (path === api.graphql) {
    return method === "POST" && query === "" && saysJson(request)
      ? { authorization, headers, body: graphqlBody }
      : undefined;
  }
  if (!path.startsWith(api.root)) return undefined;
  if (method === "GET" || method === "HEAD") return { authorization, headers };
  if (!/^(?:POST|PUT|PATCH|DELETE)$/.test(method)) return undefined;
  const what = `${method} ${path}${query}`;
  const read = (bytes: Buffer): RequestMeaning =>
    bytes.length === 0 || saysJson(request) ? changeOf(what, bytes) : refused(onlyJson);
  return { authorization, headers, body: { most: maxBytes, read } };
}

const onlyJson = "With this login, only JSON is sent.";

/** Bytes. */
const maxBytes = 1024 * 1024;

/** Characters: more than a person reads in a question is not asked about. */
const maxShown = 8_000;

/** A change by path, with the JSON that is sent. */
export function changeOf(what: string, bytes: Buffer): RequestMeaning {
  if (bytes.length === 0) return { type: "writes", what };
  const body = parsed(bytes);
  if (body === undefined) return refused(onlyJson);
  return shown(`${what} with ${body.text}`, body.text);
}

const graphqlShape = z.strictObject({
  query: z.string(),
  operationName: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
});

const graphqlBody: BodyReader = { most: maxBytes, read: graphqlMeaning };

/** Reads a request in GraphQL: only queries go on unasked. */
export function graphqlMeaning(bytes: Buffer): RequestMeaning {
  const body = graphqlShape.safeParse(parsed(bytes)?.value).data;
  const document = body && documentOf(body.query);
  if (body === undefined || document === undefined) return refused("It is no request in GraphQL as gh sends it.");
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const others = document.definitions.filter(
    ({ kind }) => kind !== Kind.OPERATION_DEFINITION && kind !== Kind.FRAGMENT_DEFINITION,
  );
  // A server and we could choose another one.
  const [operation, ...more] = operations;
  if (operation === undefined || more.length + others.length > 0) return refused("It has more than one operation.");
  // Printed anew: a server could see the end of a comment or of a text elsewhere.
  const text = canonicalJson({ ...body, query: print(document) });
  if (operation.operation === "query") return { type: "reads", body: Buffer.from(text) };
  const { selectionSet, variableDefinitions = [] } = operation;
  const { selections } = selectionSet;
  const fields = selections.flatMap((one) => (one.kind === Kind.FIELD && !one.directives?.length ? [one] : []));
  // A default is not in the variables that are shown.
  const isPlain = fields.length === selections.length && variableDefinitions.every((one) => !one.defaultValue);
  if (operation.operation !== "mutation" || !isPlain) {
    return refused("It is neither a query nor a plain mutation.");
  }
  const variables = Object.keys(body.variables ?? {}).length === 0 ? "" : ` with ${canonicalJson(body.variables)}`;
  return shown(`${fields.map(called).join(" and ")}${variables}`, text);
}

/** A field with its arguments: `createIssue(input: $input)`. */
function called({ name, arguments: given = [] }: FieldNode): string {
  return `${name.value}(${given.map((one) => print(one)).join(", ")})`;
}

/** Texts in it are of one line. */
function documentOf(query: string): DocumentNode | undefined {
  try {
    const document = parse(query, { noLocation: true, maxTokens: 20_000 });
    return visit(document, { StringValue: (text) => ({ ...text, block: false }) });
  } catch {
    return undefined;
  }
}

/** The value, and the text that has this value for everybody: each name stands once in it. */
function parsed(bytes: Buffer): { readonly value: unknown; readonly text: string } | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return { value, text: canonicalJson(value) };
  } catch {
    return undefined;
  }
}

function shown(what: string, body: string): RequestMeaning {
  if (what.length > maxShown) return refused("It says more than a question can show.");
  return { type: "writes", what, body: Buffer.from(body) };
}

function refused(why: string): RequestMeaning {
  return { type: "refused", why };
}
