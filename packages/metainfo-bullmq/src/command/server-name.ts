/** Names the server of a queue for people. */

/** A server without its credentials. */
export function nameOfConnection(connection: string | object): string {
  const text = connection instanceof URL ? connection.href : connection;
  if (typeof text !== 'string') return 'the queue';
  try {
    const { protocol, host, pathname } = new URL(text);
    return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
  } catch {
    return 'the queue';
  }
}
