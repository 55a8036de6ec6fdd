// Packages that many people run as MCP servers, to detect look-alike package names. Pure.
import { editDistance } from '@sandbridge/core/util/text'

const POPULAR: Record<string, string> = {
  npm: `
    @azure/mcp @brightdata/mcp @cloudflare/mcp-server-cloudflare @executeautomation/playwright-mcp-server
    @heroku/mcp-server @hubspot/mcp-server @modelcontextprotocol/server-brave-search
    @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem
    @modelcontextprotocol/server-github @modelcontextprotocol/server-memory @modelcontextprotocol/server-postgres
    @modelcontextprotocol/server-puppeteer @modelcontextprotocol/server-sequential-thinking
    @modelcontextprotocol/server-slack @notionhq/notion-mcp-server @playwright/mcp @sentry/mcp-server @stripe/mcp
    @supabase/mcp-server-supabase @upstash/context7-mcp @wonderwhy-er/desktop-commander chrome-devtools-mcp
    exa-mcp-server figma-developer-mcp firecrawl-mcp mcp-remote supergateway tavily-mcp
  `,
  pypi: `
    arxiv-mcp-server blender-mcp duckduckgo-mcp-server elevenlabs-mcp fastmcp markitdown-mcp mcp-atlassian mcp-proxy
    mcp-server-fetch mcp-server-git mcp-server-sqlite mcp-server-time minimax-mcp postgres-mcp serena-agent
    workspace-mcp
  `,
}

/**
 * The popular package whose name differs from this one by one letter, by separators, or by the spelling of its scope.
 */
export function lookalikeOf(registryType: string, identifier: string): string | undefined {
  const known: readonly string[] = POPULAR[registryType]?.match(/\S+/g) ?? []
  if (known.includes(identifier)) return undefined
  const plain = identifier.toLowerCase().replaceAll(/[._-]/g, '')
  return known.find((other) => {
    return editDistance(identifier.toLowerCase(), other, 1) <= 1 || other.replaceAll(/[._-]/g, '') === plain
  })
}
