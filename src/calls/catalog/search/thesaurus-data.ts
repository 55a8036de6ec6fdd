// The thesaurus of the search: words that people use for the same thing in developer tools and online services.
// Extend it freely. One group per line, words and phrases separated by commas; forms of one word (issue, issues) need
// no entry.
//   a, b, c      any of these may stand for any other
//   a > b, c     `a` may mean `b` or `c`, but not the other way round
// Lines that start with `//` are comments. Write general vocabulary, never the names of one product's tools.
// Pure.

export const THESAURUS = `
// --- acts
create, add, new, open, make, insert, generate, build, produce, define
file, raise, log, report, submit, write up > create, issue
add > sum, plus, append
create > init, initialize, provision, register, post, start
delete, remove, drop, erase, destroy, discard, purge, wipe, clear, trash
get rid of, throw away, throw out, take down, take away, tear down > delete, remove, drop, uninstall, clean
list, show, enumerate, display, browse, index
get, fetch, retrieve, read, obtain, load, view, show, lookup
look up, look for, hunt for, track down > search, find, query, get
look at, inspect, examine, peek, check out > get, read, view, show, describe
check > get, status, verify, validate, inspect
see > get, list, show, view, read
find, search, query, lookup, locate, discover, seek
update, edit, modify, change, alter, amend, revise, patch, adjust
update > set, upsert, replace, rename, append
rewrite, tweak, correct, fix > edit, update, modify
set, configure, assign, define, specify
turn on, switch on, enable, activate, toggle
turn off, switch off, disable, deactivate, toggle
rename, move, relocate, transfer
give another name, new name, different name, call it, retitle > rename, move
copy, duplicate, clone, replicate
send, post, publish, submit, deliver, message, notify
write, save, store, put, persist
write down, jot down, note down > write, create, add
attach, upload, import
upload, put, push, send
download, fetch, export, pull, save
export, dump, extract, save
run, execute, launch, invoke, evaluate, trigger, start
start, launch, begin, open, boot, spawn, run, initiate
spin up, bring up, set up, fire up, stand up, kick off > create, start, install, launch, deploy, run
stop, end, halt, terminate, kill, abort, cancel, close, shutdown, quit
shut down, put an end, call off, give up > stop, terminate, kill, close, cancel
close, shut, end, finish
restart, reboot, reload, relaunch, rollout restart
wait, pause, sleep, delay, poll
hold on, until > wait
connect, attach, link, login, hook up
disconnect, detach, unlink, logout, log off
restore, recover, undo, revert, rollback, reset, undelete
undo, take back, go back, roll back, back out > revert, reset, restore, rollback, undo, back
merge, combine, join, integrate, unite
split, divide, separate
compare, diff, difference, delta, contrast
validate, verify, check, test, lint
approve, accept, confirm, sign off > review, approve, accept
review, feedback, approve, critique
deny, reject, decline, dismiss
subscribe, follow, watch, observe
watch, monitor, track, observe, follow
keep an eye on, keep tabs on, keep track > monitor, watch, track, status
count, number of, how many, total, tally
how big, how large, disk usage, footprint > size, storage, stats, info
summarize, summary, digest, overview, recap, tldr
analyze, analyse, investigate, examine, inspect, insight
explain, describe, clarify, document
answer, reply, respond
tag, label, mark, annotate
convert, transform, translate, change format
compress, zip, gzip, archive, shrink, pack
unzip, decompress, unpack, extract
encode, base64, serialize
crop, resize, scale
scale, resize, replicas, grow, shrink
bigger, smaller, wider, larger, dimensions > resize, scale, size
sort, order, rank, arrange
filter, narrow, restrict, where
group, aggregate, bucket, rollup
calculate, compute, evaluate, sum, math
add up, plus, sum, total
refresh, reload, sync, renew
sync, synchronize, mirror, replicate
install, setup, deploy, add
uninstall, remove, delete, teardown
upgrade, update, bump, newer version
deploy, release, ship, rollout, publish, apply
apply, deploy, submit, create
schedule, plan, recurring, cron
invite, add member, share
share, publish, invite, permission
assign, allocate, delegate, owner
forget > delete, remove, memory
try out, experiment > test, run
echo, repeat, say back, parrot
ping, alive, heartbeat, health, responsive, reachable
// --- things: code and issues
issue, ticket, bug, task, defect, problem report, work item
bug report, feature request, incident > issue, ticket
pull request, pr, merge request, mr, code review
proposal, proposed change, contribution > pull request
repository, repo, project, codebase
code, source, source code, program, snippet
branch, fork, line of development
fork, copy, own copy
commit, revision, changeset, check in, checkin
commit, save changes, record changes > commit
history, log, past, timeline, changelog
stage, staging, add, index
blame, who wrote, who changed, last touched, authorship, annotate
author, writer, owner, creator, who
tag, release, version, milestone
version, release, tag, revision
remote, origin, upstream
working tree, working copy, checkout, working directory, worktree
switch, checkout, change to
rebase, replay commits, rewrite history
cherry pick, port commit, backport, single commit
conflict, merge conflict
release notes, changelog
ci, pipeline, build, workflow, action, continuous integration
test, check, spec, unit test
deployment, environment, release
dependency, package, library, module
documentation, docs, manual, reference, guide, readme, help
api, endpoint, interface
webhook, callback, hook
feature flag, toggle, flag
label, tag, category
assignee, owner, responsible
milestone, sprint, iteration, deadline
comment, remark, note, reply, discussion, feedback
// --- things: files and machines
file, document, doc
folder, directory, dir, path
filesystem, disk, drive, storage
tree, hierarchy, structure, nested
path, location, filename
content, text, body, data
metadata, info, information, details, properties, attributes, stats
details, info, information, specifics
when, modified, timestamp, last modified > info, metadata, date
one, single
everything, whole, entire, full, complete, all
permission, access, allowed, rights, privilege
environment variable, env, env var
config, configuration, settings, preferences, options
settings, preferences, config, options
shell, terminal, console, command line, cli, bash, command prompt
command, shell, cmd, process
process, program, task, pid, job, daemon
repl, interactive session, prompt
output, stdout, result, printout
log, logs, trace, console output, messages, journal
error, exception, failure, problem, crash
server, host, machine, node, instance, box
memory, ram, heap
heap, memory leak, leak, heapdump
cpu, processor, load
network, connection, traffic, http
port, socket, tunnel, forward
secret, credential, password, token, api key
certificate, cert, tls, ssl
backup, snapshot, dump, archive
usage, statistics, metrics, stats, analytics
statistics, stats, metrics, figures
status, state, condition, progress, health
progress, status, how far, percentage
queue, topic, stream, broker
alert, alarm, notification, incident
dashboard, report, panel
// --- things: containers and clouds
kubernetes, k8s, kube, kubectl, cluster
cluster, deployment, node
pod, container, workload, replica
container, docker, image
drain, evict, empty, cordon, maintenance > node
manifest, yaml, spec, resource definition
helm, chart, release, package
namespace, project, tenant
replica, copy, instance, scale
bucket, blob, object storage, s3
function, lambda, serverless
vm, virtual machine, instance
// --- things: databases
database, db, datastore, sql, schema
collection, table, data source, dataset
row, record, document, entry, item
column, field, attribute, property
field, property, key, attribute, column
query, search, find, select, filter
index, key, speed up queries
query plan, execution plan, slow query, inefficient query, performance of query > explain
schema, structure, shape, fields, columns
pipeline, aggregation, aggregate
sql, query, select
upsert, insert, update
migration, schema change
join, relation, relationship, link, edge
graph, network, nodes, edges
relation, relationship, edge, connection, link
// --- things: web and browser
web, internet, online, website, site
website, site, web page, domain
website, site, homepage > page, url, web
page, web page, webpage, url, tab
url, link, address, href, web address
tab, page, window
link, url, hyperlink
browser, chrome, page, web
go to, visit, open the page, head to, browse to > navigate, open, goto
navigate, goto, visit, browse, open
screenshot, image, picture, capture, snapshot, screen capture, screengrab
picture, image, photo, pic, graphic, logo, icon, photograph
video, recording, screencast, record screen, film, movie, clip
record, capture, trace
audio, sound, music, speech, voice
media, image, audio, video, binary
click, press, tap, push, hit
double click, dbl click
button, control, element
element, widget, control, node, component
type, enter, input, key in, fill, write text
keyboard, key, keystroke, hotkey, shortcut
press, hit, push, strike
form, fields, inputs, questionnaire
fill, complete, populate, enter, fill in, fill out
dropdown, select, option, combo box, choose, pick, menu
choose, select, pick, option
hover, mouse over, mouseover, point at
mouse, cursor, pointer > hover, click, drag
drag, drop, move, drag and drop
dialog, popup, alert, prompt, modal, confirm box
popup, pop up, modal, alert box
upload, attach, file chooser
javascript, js, script, code, expression
script, code, program, snippet
css, style, stylesheet, styling
accessibility, a11y, aria, screen reader
request, call, http
response, reply, answer, result
header, headers, http header
cookie, session, storage
audit, lighthouse, seo, best practices, quality check
performance, speed, slow, latency, profiling, profile, load time
console, log messages, devtools
scrape, crawl, extract, fetch page, harvest, grab
crawl, spider, whole site, walk the site, every page, recursively
sitemap, site map, all urls, map > map, urls, discover
markdown, md, text
pdf, document, paper
structured data, json, schema
search engine, google, web search, look online, search online > web search
news, current events, headlines, latest > search, web
research, deep research, study, investigate, literature
paper, article, publication, arxiv, preprint, academic, scholarly
scientific, science, scholar > research, paper
cite, citation, reference, bibliography, related papers
passage, quote, excerpt, section
job, task, run, process
// --- things: people and messages
user, member, person, account, people, profile
people, users, members, colleagues, teammates, coworkers, contacts
profile, user details, bio
team, group, organization, org, workspace
organization, org, company
message, chat, dm, text, im
tell, inform, let know, inform everyone, ask in, announce, write to, say > message, post, send
channel, room, conversation, chat room
thread, conversation, discussion, replies
emoji, reaction, react, smiley, emoticon, thumbs up, like
email, mail, e mail, inbox
mail, send, message
contact, customer, lead, person
meeting, event, appointment, calendar
calendar, schedule, event, agenda
reminder, todo, task, to do
note, page, memo, document
page, document, article, note
block, paragraph, section, element, chunk
wiki, knowledge base, docs, notes
knowledge base, knowledge, documentation, docs, kb
template, boilerplate, blueprint
parent, under another, belongs to > parent, move
title, name, heading, headline, caption
heading, title, header
// --- things: numbers and pictures
chart, plot, graph, diagram, visualization, figure
visualize, draw, plot, graph, render, illustrate > chart, generate, diagram
diagram, chart, drawing, figure, sketch
trend, over time, time series, timeline > line, area, chart
steps, process, workflow, decision, flowchart > flow, diagram
map, location, geography, geo
location, place, position, city, coordinates
weather, forecast, temperature, climate
spreadsheet, excel, sheet, xlsx, csv, worksheet, pivot table
table, spreadsheet, grid, tabular
date, time, day, timestamp
price, cost, amount, charge
payment, invoice, billing, charge, subscription
refund, reimburse, money back
order, purchase, checkout
customer, client, account
product, item, sku
stock, inventory, quantity
currency, exchange rate, money
translate, translation, language
// --- all sorts
what changed, changes between, differ > diff, compare, changes
remember, memorize, store, persist, keep > save, memory
recall, remembered > memory, search
think, reason, reflect, brainstorm
share of, proportion, percentage, slices, breakdown > pie
distribution, spread, histogram, frequency
quartile, median, percentiles > boxplot
correlation, relationship between > scatter
cause, causes, root cause, cause and effect
route, itinerary, journey, trip, directions, way
places, locations, markers, points of interest
region, province, territory
word frequency, tag cloud > word cloud
overlap, intersection
entity, node, object
knowledge graph, graph, network
table, collection, dataset
observation, fact, note, remark
dark mode, color scheme, theme, light mode
device, mobile, phone
pretend, simulate, mimic, fake, emulate, imitate
throttle, bandwidth, slow connection > network
previous version, previous release, earlier version, earlier release > rollback, revert, undo
who am i, myself, current user, logged in > whoami, self
network requests, http requests, xhr, api calls, network traffic
picture of, photo of, how it looks, what it looks like > screenshot, image
look, looks, appearance > screenshot, image
agent, assistant, bot
rate, rating, feedback, vote
complain, opinion, praise, suggestion > feedback
several, multiple, many, batch, bulk, at once
port forward, tunnel
shelve, park, set aside, put aside, for later > stash
uncommitted, modified, dirty > status, diff
alert me, notify me, warn me > monitor, watch, subscribe, alert
// --- sizes, kinds, moods of a request
latest, newest, recent, last, current, up to date
recent, latest, last, past
first, beginning, top, head, start
last, end, bottom, tail
top, first lines > head
unread, new > list
free text, keyword, phrase
long, lengthy, slow, time consuming, long running
tiny, small, little
existing, current
temporary, temp, tmp
raw, unprocessed
local, localhost, on my machine
cloud, hosted, online
`
