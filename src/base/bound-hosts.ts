/** Which servers a key may be sent to: scheme, host and port, compared exactly. Pure functions. */

/** `https://host[:port]` or `http://host[:port]`; a host alone means https. Undefined when it is no such thing. */
export function boundHost(text: string): string | undefined {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return undefined;
  return url.hostname === "" || url.username !== "" || url.password !== "" ? undefined : url.origin;
}

export function isBoundTo(hosts: readonly string[], url: URL): boolean {
  return url.username === "" && url.password === "" && hosts.includes(url.origin);
}
