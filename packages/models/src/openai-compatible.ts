import { createOpenAICompatible, OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { APICallError, EmptyResponseBodyError } from "@ai-sdk/provider";
import type { Model, ModelRequest } from "@gennai/agent/model";
import type { Provider } from "@gennai/protocol/model/session/backend";
import { nearestEffort } from "@gennai/protocol/model/session/effort";
import { bytesOf, textOf } from "./answer/answer-bytes.ts";
import { readChatAnswer } from "./answer/chat-answer.ts";
import { redirected, redirections } from "./answer/fetch-from-server.ts";
import { defaultTiming, type ModelTiming, ProviderModel } from "./answer/provider-model.ts";
import { readableAnswer } from "./answer/readable-answer.ts";
import type { ModelEndpoint } from "./model-endpoint.ts";
import { type ChatDialect, chatDialect, learnDialect } from "./request/chat-dialect.ts";
import { encodeMessages, type RequestFrame, requestFrame, withMessages } from "./request/encoded-messages.ts";
import { capabilitiesOf } from "./request/model-capabilities.ts";
import { withPathInPlace } from "./request/path-in-place.ts";
import { toTools } from "./request/provider-prompt.ts";
import { sendParts } from "./request/send-parts.ts";
import { serverWindow } from "./server-window.ts";

/** The parts of a call. */
interface SentRequest {
  readonly dialect: ChatDialect;
  readonly tools: ModelRequest["tools"];
  readonly messages: readonly Uint8Array[];
}

/** Any server that speaks the chat-completions protocol. */
export function createOpenAICompatibleModel(
  backend: Provider,
  endpoint: ModelEndpoint,
  timing: Partial<ModelTiming> = {},
): Model {
  const { baseUrl, model, facts } = endpoint;
  const id = `${backend}/${model}`;
  const server = `${baseUrl} ${model}`;
  const url = withPathInPlace(`${baseUrl}/chat/completions`);
  const headers = headersOf(endpoint);
  // By its signal: the only thing of a call that is passed on unchanged.
  const sent = new WeakMap<AbortSignal, SentRequest>();
  const library = libraryModel(backend, model);
  const frames = new WeakMap<ModelRequest["tools"], { readonly asked: string; readonly frame: RequestFrame }>();

  /** The library would convert and encode tools and conversation again for every request, which grows with its length. */
  async function doStream({ abortSignal: signal, ...call }: LanguageModelV4CallOptions) {
    const request = signal && sent.get(signal);
    if (signal === undefined || request === undefined) throw new TypeError("This conversation was not encoded.");
    const body = withMessages(await frameOf(request, call), request.messages);
    return { stream: await askChat({ url, headers, body, signal }) };
  }

  /** The same for nearly all requests of a turn. */
  async function frameOf({ tools, dialect }: SentRequest, call: LanguageModelV4CallOptions): Promise<RequestFrame> {
    const asked = JSON.stringify({ ...call, tools: [dialect.usage, dialect.limit] });
    const known = frames.get(tools);
    if (known?.asked === asked) return known.frame;
    const { max_tokens: most, ...body } = (await library.prepareRequest(call)).body;
    const limit = dialect.limit === undefined ? {} : { [dialect.limit]: most };
    const usage = dialect.usage ? { stream_options: { include_usage: true } } : {};
    const frame = requestFrame(JSON.stringify({ ...body, ...limit, stream: true, ...usage }));
    frames.set(tools, { asked, frame });
    return frame;
  }

  return new ProviderModel({
    id,
    chat: { doStream },
    capabilities: { ...capabilitiesOf(facts), structuredOutput: false },
    maxContextTokens: facts.contextTokens,
    askContextTokens: (signal) => serverWindow(backend, endpoint, signal),
    endpoint,
    timing: { ...defaultTiming, ...timing },
    async toCall(request, { signal }) {
      const dialect = chatDialect(server);
      const reader = { chat: library, model: id, dialect };
      const messages = await encodeMessages(reader, request.system, request.messages);
      sent.set(signal, { dialect, tools: request.tools, messages });
      return {
        prompt: [],
        ...(request.maxOutputTokens > 0 ? { maxOutputTokens: request.maxOutputTokens } : {}),
        ...toTools(request),
        // Without one, a model thinks as hard as its maker finds right.
        ...(request.enableThinking && request.effort !== undefined && dialect.effort
          ? { reasoning: nearestEffort(request.effort, facts.efforts) }
          : {}),
      };
    },
    plainThinking: true,
    learn(refusal, { signal }) {
      const dialect = sent.get(signal)?.dialect;
      return dialect !== undefined && learnDialect(server, dialect, refusal);
    },
  });
}

/** Of these are kept at once: their names come from outside. */
const mostLibraryModels = 64;
/** By provider and model: to make one takes the library milliseconds. */
const libraryModels = new Map<string, OpenAICompatibleChatLanguageModel>();

/** It converts a request; sending it, and reading the answer, is done here, so that its address plays no part. */
function libraryModel(backend: Provider, model: string): OpenAICompatibleChatLanguageModel {
  const key = `${backend} ${model}`;
  const known = libraryModels.get(key);
  if (known !== undefined) return known;
  const made = createOpenAICompatible({ name: backend, baseURL: "http://nowhere" }).chatModel(model);
  if (!(made instanceof OpenAICompatibleChatLanguageModel))
    throw new TypeError("The provider library made another kind of model.");
  if (libraryModels.size >= mostLibraryModels) libraryModels.clear();
  libraryModels.set(key, made);
  return made;
}

/** The user's own win. */
function headersOf({ apiKey, headers }: ModelEndpoint): Readonly<Record<string, string>> {
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    "content-type": "application/json",
    "user-agent": "gennai",
    ...(apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` }),
    ...Object.fromEntries(own),
  };
}

interface ChatRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON in parts. */
  readonly body: readonly Uint8Array[];
  readonly signal: AbortSignal;
}

/** POSTs it, and gives what is answered as it comes. Throws `APICallError` for a refusal, as the provider libraries do. */
async function askChat({ url, headers, body, signal }: ChatRequest): Promise<AsyncIterable<LanguageModelV4StreamPart>> {
  const posted = await sendParts(url, body, { headers, signal });
  const cancel = () => posted.body.destroy();
  if (redirections.has(posted.status)) {
    cancel();
    throw redirected(posted.status, posted.headers["location"] ?? null, url);
  }
  if (bodiless.has(posted.status)) throw new EmptyResponseBodyError();
  const sent = bytesOf(posted.body[Symbol.asyncIterator](), cancel);
  const { status, bytes } = await readableAnswer({ status: posted.status, bytes: sent }, url);
  if (status >= 200 && status <= 299) return readChatAnswer(bytes);
  throw new APICallError({
    message: `HTTP ${status}`,
    url,
    requestBodyValues: {},
    statusCode: status,
    responseHeaders: { ...posted.headers },
    responseBody: await textOf(bytes),
  });
}

const bodiless: ReadonlySet<number> = new Set([204, 205]);
