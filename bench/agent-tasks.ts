// Sixteen kinds of tasks as a model would do them, including typical first mistakes. Each step is one cell.

/** One cell, and what its result must say: the fix for a mistake, otherwise the result. */
export interface Step {
  code: string
  /** What is wrong with it; missing when it is correct. */
  mistake?: string
  says: RegExp
}

export interface AgentTask {
  kind: string
  steps: Step[]
}

/** @param folder that the files server may read; contains `sales.csv` */
export function agentTasks(folder: string): AgentTask[] {
  const csv = JSON.stringify(`${folder}/sales.csv`)
  const out = JSON.stringify(`${folder}/summary.txt`)
  return [
    {
      kind: 'wrong argument name',
      steps: [
        { code: 'await mcp_everything.echo(text="hi")', mistake: 'text for message', says: /Signature: .*message/ },
        { code: 'await mcp_everything.echo(message="hi")', says: /Echo: hi/ },
      ],
    },
    {
      kind: 'argument left out',
      steps: [
        { code: 'await mcp_everything.get_sum(a=2)', mistake: 'no b', says: /b is missing/ },
        { code: 'await mcp_everything.get_sum(a=2, b=40)', says: /42/ },
      ],
    },
    {
      kind: 'missing await',
      steps: [
        { code: 'r = mcp_everything.get_sum(a=2, b=3)\nr.upper()', mistake: 'no await', says: /await/ },
        { code: '(await mcp_everything.get_sum(a=2, b=3)).upper()', says: /THE SUM OF 2 AND 3 IS 5/ },
      ],
    },
    {
      kind: 'wrong server name',
      steps: [
        {
          code: `await mcp_filesystem.read_text_file(path=${csv})`,
          mistake: 'filesystem for files',
          says: /mcp_files/,
        },
        { code: `len(await mcp_files.read_text_file(path=${csv}))`, says: /\d+/ },
      ],
    },
    {
      kind: 'wrong tool name',
      steps: [
        { code: 'await mcp_memory.add_entities(entities=[])', mistake: 'add for create', says: /create_entities/ },
        {
          code: 'await mcp_memory.create_entities(entities=[{"name": "Oslo", "entityType": "city", "observations": ["rain"]}])',
          says: /Oslo/,
        },
      ],
    },
    {
      kind: 'network from the sandbox',
      steps: [
        {
          code: 'import urllib.request\nurllib.request.urlopen("https://example.com").read()',
          mistake: 'there is no network',
          says: /no network|network access/i,
        },
        { code: 'len(await runtime.search_tool_docs("fetch a web page"))', says: /\d/ },
      ],
    },
    {
      kind: 'host file',
      steps: [
        { code: 'open("/home/me/sales.csv").read()', mistake: 'a file of the host', says: /mcp_files/ },
        { code: `(await mcp_files.read_text_file(path=${csv})).splitlines()[0]`, says: /date,region,amount/ },
      ],
    },
    {
      kind: 'giant print',
      steps: [
        {
          code: 'import json\nrows = [{"id": i, "name": f"item {i}", "value": i * 1.5} for i in range(20_000)]\nprint(json.dumps(rows))',
          mistake: 'a megabyte of JSON',
          says: /^list of 20,000 × \{id, name, value\}/,
        },
        { code: 'sum(row["value"] for row in rows)', says: /299985000\.0/ },
      ],
    },
    {
      kind: 'giant list of Python',
      steps: [
        {
          code: 'rows = [{"id": i, "tags": ["a", "b"], "open": i % 2 == 0} for i in range(20_000)]\nprint(rows)',
          mistake: 'a megabyte of repr',
          says: /^list of 20,000 × \{id, tags: list of 2 × str, open\}/,
        },
        { code: 'sum(row["open"] for row in rows)', says: /10000/ },
      ],
    },
    {
      kind: 'missing module',
      steps: [
        { code: 'import requests', mistake: 'not installed', says: /mcp_|standard library|not installed|no network/i },
        { code: 'import json\njson.dumps({"a": 1})', says: /"a": 1/ },
      ],
    },
    {
      kind: 'find a tool',
      steps: [
        { code: 'for doc in await runtime.search_tool_docs("add two numbers"): print(doc.line)', says: /get_sum/ },
        { code: 'await mcp_everything.get_sum(a=20, b=22)', says: /42/ },
      ],
    },
    {
      kind: 'read, compute, write',
      steps: [
        {
          code: `import csv, io\ntext = await mcp_files.read_text_file(path=${csv})\ntotals = {}\nfor row in csv.DictReader(io.StringIO(text)):\n    totals[row["region"]] = totals.get(row["region"], 0) + float(row["amount"])\nbest = max(totals, key=totals.get)\nawait mcp_files.write_file(path=${out}, content=best)\nbest`,
          says: /north/,
        },
      ],
    },
    {
      kind: 'many calls at once',
      steps: [
        {
          code: 'import asyncio\nsums = await asyncio.gather(*[mcp_everything.get_sum(a=i, b=i) for i in range(20)])\nlen(sums), sums[-1]',
          says: /20, 'The sum of 19 and 19 is 38/,
        },
      ],
    },
    {
      kind: 'a tool that refuses',
      steps: [
        {
          code: 'await mcp_files.read_text_file(path="/etc/hostname")',
          mistake: 'outside',
          says: /allowed directories/i,
        },
        { code: 'await mcp_files.list_allowed_directories()', says: /Allowed directories/ },
      ],
    },
    {
      kind: 'a variable of an earlier cell',
      steps: [
        { code: 'graph = await mcp_memory.read_graph()', says: /./ },
        { code: 'graph["entities"][0]["name"]', says: /Oslo/ },
      ],
    },
    {
      kind: 'an image',
      steps: [{ code: 'image = await mcp_everything.get_tiny_image()\nimage', says: /./ }],
    },
  ]
}
