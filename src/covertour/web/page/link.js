// A link that holds the whole plan: the instance and the stops, compressed, after the #.

const LONGEST = 16_000; // characters that mail programs and chats still carry

async function through(bytes, stream) {
  const response = new Response(new Blob([bytes]).stream().pipeThrough(stream));
  return new Uint8Array(await response.arrayBuffer());
}

/** The address of the plan, null where it would be too long. */
export async function toLink(instance, stops) {
  const text = new TextEncoder().encode(JSON.stringify({ instance, stops }));
  if (text.length > 40 * LONGEST) return null;
  const packed = await through(text, new CompressionStream("deflate-raw"));
  const letters = btoa(Array.from(packed, (byte) => String.fromCharCode(byte)).join(""));
  const safe = letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const address = `${location.origin}${location.pathname}#plan=${safe}`;
  return address.length <= LONGEST ? address : null;
}

/** The plan that an address holds, null for none. */
export async function fromLink(hash) {
  const found = new URLSearchParams(hash.slice(1)).get("plan");
  if (!found) return null;
  const letters = atob(found.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const text = new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
  const { instance, stops } = JSON.parse(text);
  return { instance, plan: stops ? { stops, cost: null, gap: null, seconds: null, edited: true } : null };
}
