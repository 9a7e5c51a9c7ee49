/**
 * Where a client has its token from. One in a file is read anew for each connection: a server that was started again has another. Of
 * several sources the first is used until it is refused, then the next.
 */
import { ReasonError } from "#protocol";
import { asksForAnotherToken } from "./refusal.ts";

/** Rejects with a ReasonError. `address`: the server that the token is for. */
export type ReadTokenFile = (file: string, address: string) => Promise<string>;

export type TokenSource = OneToken | TokenList;

type OneToken =
  | { readonly token: string | (() => string | Promise<string>) }
  /** A file with the token and nothing else, or as `harness token mint --file` writes it. */
  | { readonly tokenFile: string };

interface TokenList {
  /** In the order in which they are tried. Each is sent to the one server that the client connects to. */
  readonly tokens: readonly (OneToken & { readonly name: string })[];
  /** Once for each source that the server refuses or that cannot be read, while there is a next one. */
  readonly onRefused?: (name: string, why: ReasonError) => void;
}

export interface Token {
  read(): Promise<PresentedToken>;
  /** It can be another one the next time. */
  readonly mayChange: boolean;
}

export interface PresentedToken {
  readonly text: string;
  /** The server answered it with this. True: there is another one to try, and what was asked was not begun with. */
  refused(why: unknown): boolean;
}

export function tokenOf(source: TokenSource, address: string, readTokenFile: ReadTokenFile): Token {
  const { tokens, onRefused = undefined } = "tokens" in source ? source : { tokens: [{ ...source, name: "" }] };
  const last = tokens.length - 1;
  let current = 0;

  /** False for the last one. A source that somebody else has left meanwhile is not left twice. */
  function leave(at: number, why: ReasonError): boolean {
    if (at < current) return true;
    if (at >= last) return false;
    current = at + 1;
    onRefused?.(tokens[at]?.name ?? "", why);
    return true;
  }

  async function read(): Promise<PresentedToken> {
    const at = current;
    const one = tokens[at];
    if (one === undefined) throw new ReasonError("TokenRequired");
    try {
      const text = await textOf(one);
      return { text, refused: (why) => asksForAnotherToken(why) && leave(at, why) };
    } catch (error) {
      if (!(error instanceof ReasonError) || !leave(at, error)) throw error;
      return read();
    }
  }

  async function textOf(source: OneToken): Promise<string> {
    if ("tokenFile" in source) return readTokenFile(source.tokenFile, address);
    return typeof source.token === "string" ? source.token : source.token();
  }

  return { read, mayChange: tokens.some((one) => "tokenFile" in one || typeof one.token !== "string") };
}
