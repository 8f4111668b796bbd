/**
 * `fetch` with special handling of status 421, with which a server says that the host is not one of its own. `fetch` retries
 * such a request on another connection; Node's has already used up the body by then, and fails before the status can be read.
 * gRPC-Web has no meaning for 421, but 403 means that permission is denied.
 */
export const fetchOrHostRefusal: typeof fetch = async (input, init) => {
  try {
    const response = await fetch(input, init);
    return response.status === 421 ? notItsHost() : response;
  } catch (error) {
    if (hasSpentBody(error)) return notItsHost();
    throw error;
  }
};

function notItsHost(): Response {
  const message = "this server does not answer for that host; if it should: --allow-host";
  return new Response(null, { status: 403, headers: { "Grpc-Message": encodeURIComponent(message) } });
}

function hasSpentBody(error: unknown): boolean {
  if (!(error instanceof TypeError) || !(error.cause instanceof Error) || !("code" in error.cause)) return false;
  return error.cause.code === "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH" || error.cause.code === "ERR_INVALID_STATE";
}
