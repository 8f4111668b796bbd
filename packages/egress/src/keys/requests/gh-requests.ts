import { canonicalJson } from "@gennai/protocol/canonical-json";
import { type DocumentNode, type FieldNode, Kind, parse, print, visit } from "graphql";
import { z } from "zod";
import {
  type ComparedMeaning,
  type LoginRequest,
  type LoginUse,
  type RequestMeaning,
  saysJson,
} from "../../network/added-login.ts";
import { isSearchIn, queryBounds } from "./gh-bounds.ts";
import { idsIn } from "./gh-expected.ts";
import { parsedJson, refused } from "./meanings.ts";

/** Headers that choose a version or a form of the answer. */
const headers: readonly string[] = ["content-type", "x-github-api-version", "graphql-features", "time-zone"];

/** The API of a server, as paths. */
export interface GhApi {
  /** Of all that is asked by path, with a slash at its end. */
  readonly root: string;
  readonly graphql: string;
  /** Those that are read without a further question: `owner/name`, in lower case. */
  readonly repositories: readonly string[];
}

/**
 * What may be done with a login at the API of GitHub: read its repositories, by GET and by queries; read something else or change
 * something, each time after a yes to exactly the request.
 *
 * @param authorization value of the header
 */
export function ghUse(api: GhApi, authorization: string, request: LoginRequest): LoginUse | undefined {
  const { method, path, query, headers: given } = request;
  if (given["content-encoding"] !== undefined) return undefined;
  if (path === api.graphql) {
    if (method !== "POST" || query !== "" || !saysJson(request)) return undefined;
    return { authorization, headers, body: { most: maxBytes, read: (bytes) => graphqlMeaning(bytes, api) } };
  }
  if (!path.startsWith(api.root)) return undefined;
  if (method === "GET" || method === "HEAD") {
    if (isReadAt(path.slice(api.root.length), query, api.repositories)) return { authorization, headers };
    const what = `read ${path}${query}`;
    return { authorization, headers, body: { most: 0, read: () => ({ type: "writes", what }) } };
  }
  if (!/^(?:POST|PUT|PATCH|DELETE)$/.test(method)) return undefined;
  const what = `${method} ${path}${query}`;
  const workflow =
    method === "POST" && query === "" ? /^(.*\/actions\/workflows\/\d+)\/dispatches$/.exec(path)?.[1] : undefined;
  const read = (bytes: Buffer): RequestMeaning | ComparedMeaning => {
    if (bytes.length > 0 && !saysJson(request)) return refused(onlyJson);
    if (workflow === undefined) return changeOf(what, bytes);
    return { type: "compares", path: workflow, read: (there) => changeOf(`${what}${namedBy(there)}`, bytes) };
  };
  return { authorization, headers, body: { most: maxBytes, read } };
}

const workflowShape = z.looseObject({ name: z.string().regex(/^[^"\p{Cc}]+$/u), path: z.string().regex(/^\S+$/) });

/** What the host calls a workflow; empty if it does not say it. */
function namedBy(there: Buffer | undefined): string {
  const { name, path } = workflowShape.safeParse(there && parsed(there)?.value).data ?? {};
  return name === undefined ? "" : ` about "${name}" (${path})`;
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

/** @param path behind the root */
function isReadAt(path: string, query: string, repositories: readonly string[]): boolean {
  if (/^(?:user|rate_limit|meta|versions)?$/.test(path)) return true;
  if (/^search\/(?:issues|code|commits)$/.test(path)) {
    return isSearchIn(new URLSearchParams(query).getAll("q").join(" repo: "), repositories);
  }
  const [, repository = ""] = /^repos\/([^/]+\/[^/]+)(?:\/|$)/.exec(path) ?? [];
  return repositories.includes(repository.toLowerCase());
}

/** Reads a request in GraphQL: only queries about the repositories go on unasked. */
export function graphqlMeaning(
  bytes: Buffer,
  { graphql, repositories }: Pick<GhApi, "graphql" | "repositories">,
): RequestMeaning | ComparedMeaning {
  const body = graphqlShape.safeParse(parsed(bytes)?.value).data;
  const document = body && documentOf(body.query);
  if (body === undefined || document === undefined) return refused("It is not a GraphQL request as gh sends it.");
  const operations = document.definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const others = document.definitions.filter(
    ({ kind }) => kind !== Kind.OPERATION_DEFINITION && kind !== Kind.FRAGMENT_DEFINITION,
  );
  // A server and we could choose another one.
  const [operation, ...more] = operations;
  if (operation === undefined || more.length + others.length > 0) return refused("It has more than one operation.");
  // Printed anew: a server could see the end of a comment or of a text elsewhere.
  const text = canonicalJson({ ...body, query: print(document) });
  const objectsThere = (
    ids: readonly string[],
    read: (objects: readonly string[]) => RequestMeaning,
  ): ComparedMeaning => ({
    type: "compares",
    path: graphql,
    query: JSON.stringify({ query: aboutObjects, variables: { ids } }),
    read: (there) => read(objectsIn(there, ids)),
  });
  if (operation.operation === "query") {
    const reads: RequestMeaning = { type: "reads", body: Buffer.from(text) };
    const given = body.variables ?? {};
    const asks = shown(`read ${print(document).replaceAll(/\s+/g, " ")}${withVariables(given)}`, text);
    const fragments = document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION);
    const bounds = queryBounds({ operation, fragments, variables: given }, repositories);
    if (bounds.type === "within") return reads;
    if (bounds.type === "beyond") return asks;
    const isThere = (object: string): boolean => repositories.includes(/ (\S+)$/.exec(object)?.[1] ?? "");
    const { ids } = bounds;
    return objectsThere(ids, (objects) => (objects.length === ids.length && objects.every(isThere) ? reads : asks));
  }
  const { selectionSet, variableDefinitions = [] } = operation;
  const { selections } = selectionSet;
  const fields = selections.flatMap((one) => (one.kind === Kind.FIELD && !one.directives?.length ? [one] : []));
  // A default is not in the variables that are shown.
  const isPlain = fields.length === selections.length && variableDefinitions.every((one) => !one.defaultValue);
  if (operation.operation !== "mutation" || !isPlain) {
    return refused("It is neither a query nor a plain mutation.");
  }
  const ids = idsIn(body.variables);
  const meaning = (objects: readonly string[]): RequestMeaning => {
    const about = objects.length === 0 ? "" : ` about ${objects.join(", ")}`;
    return shown(`${fields.map(called).join(" and ")}${about}${withVariables(body.variables ?? {})}`, text);
  };
  return ids.length === 0 || ids.length > maxObjects ? meaning([]) : objectsThere(ids, meaning);
}

function withVariables(variables: Readonly<Record<string, unknown>>): string {
  return Object.keys(variables).length === 0 ? "" : ` with ${canonicalJson(variables)}`;
}

const maxObjects = 20;

const ofRepository = "repository { nameWithOwner }";
const aboutObjects = `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename
  ... on Repository { nameWithOwner } ... on User { login } ... on Organization { login }
  ... on Issue { number ${ofRepository} } ... on PullRequest { number ${ofRepository} }
  ... on Label { name ${ofRepository} } ... on Milestone { number ${ofRepository} } ... on IssueComment { ${ofRepository} } } }`;

const objectShape = z.looseObject({
  __typename: z.enum([
    "Repository",
    "User",
    "Organization",
    "Issue",
    "PullRequest",
    "Label",
    "Milestone",
    "IssueComment",
  ]),
  nameWithOwner: z.string().optional(),
  login: z.string().optional(),
  number: z.int().optional(),
  name: z.string().optional(),
  repository: z.looseObject({ nameWithOwner: z.string() }).optional(),
});
const objectsShape = z.looseObject({ data: z.looseObject({ nodes: z.array(objectShape.nullable().catch(null)) }) });

/** In words, as `Issue 1 of me/r`; empty if the host did not say it of each. */
function objectsIn(there: Buffer | undefined, ids: readonly string[]): readonly string[] {
  const nodes = objectsShape.safeParse(there && parsed(there)?.value).data?.data.nodes ?? [];
  const objects = nodes.flatMap((node) => {
    if (node === null) return [];
    const said =
      node.nameWithOwner?.toLowerCase() ?? node.login ?? node.number ?? (node.name && JSON.stringify(node.name));
    const of = node.repository && `of ${node.repository.nameWithOwner.toLowerCase()}`;
    return [[node.__typename, said, of].filter((part) => part !== undefined).join(" ")];
  });
  return objects.length === ids.length ? objects : [];
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
  const value = parsedJson(bytes);
  return value === undefined ? undefined : { value, text: canonicalJson(value) };
}

function shown(what: string, body: string): RequestMeaning {
  if (what.length > maxShown) return refused("It has more fields than a question can show.");
  return { type: "writes", what, body: Buffer.from(body) };
}
