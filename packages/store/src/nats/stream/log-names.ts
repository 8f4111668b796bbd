/** What a log is called in NATS: all of it begins with its namespace. */
export function logStreamName(namespace: string): string {
  return `${namespace}_log`;
}

export function replicaStreamName(namespace: string): string {
  return `${namespace}_replicas`;
}

/** Subject of a replica's signs of life; `*` for all replicas. */
export function replicaSubject(namespace: string, replicaId: string): string {
  return `${namespace}.replica.${replicaId}`;
}

/** The replica whose sign of life it is. */
export function replicaOfSubject(subject: string): string {
  return subject.slice(subject.lastIndexOf(".") + 1);
}
