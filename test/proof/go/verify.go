// Checks what src/proof made with an implementation that is not ours: golang.org/x/mod/sumdb. Run by test/proof/go-conformance.ts.
//
// Reads the cases (JSON) from the file named as first argument, prints what it checked, and ends with status 1 at the first
// difference. Cases marked as refused must be refused here as well.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// The width of C2SP's tiles; tlog puts it into its own paths.
const tileHeight = 8

type cases struct {
	Leaves [][]byte
	Roots  []struct {
		Size int64
		Root tlog.Hash
	}
	Notes []struct {
		Name, VerifierKey, Note, Text string
		Refused                       bool
	}
	Signatures []struct {
		SignerKey, Text, Note string
	}
	Inclusions []struct {
		Name        string
		Data        []byte
		Index, Size int64
		Path        tlog.RecordProof
		Root        tlog.Hash
		Refused     bool
	}
	Consistencies []struct {
		Name             string
		From, To         int64
		FromRoot, ToRoot tlog.Hash
		Path             tlog.TreeProof
		Refused          bool
	}
	Tiles []struct {
		Path string
		Data []byte
	}
	Paths []struct {
		Path         string
		Index        int64
		Level, Width int
	}
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	check(err, "reading the cases")
	var all cases
	check(json.Unmarshal(text, &all), "parsing the cases")
	stored := storeLeaves(all.Leaves)

	checkNotes(all)
	checkInclusions(all, stored)
	checkConsistencies(all, stored)
	checkTree(all, stored)
}

func checkNotes(all cases) {
	opened, refused := 0, 0
	for _, c := range all.Notes {
		verifier, err := note.NewVerifier(c.VerifierKey)
		check(err, c.VerifierKey)
		n, err := note.Open([]byte(c.Note), note.VerifierList(verifier))
		if c.Refused {
			must(err != nil, "note.Open accepts: %s", c.Name)
			refused++
			continue
		}
		check(err, c.Name)
		must(n.Text == c.Text && len(n.Sigs) == 1, "note.Open reads another text: %s", c.Name)
		opened++
	}
	report("note.Open: %d notes opened, %d broken ones refused", opened, refused)

	for _, c := range all.Signatures {
		signer, err := note.NewSigner(c.SignerKey)
		check(err, "note.NewSigner")
		signed, err := note.Sign(&note.Note{Text: c.Text}, signer)
		check(err, "note.Sign")
		must(string(signed) == c.Note, "note.Sign makes another note: %q and %q", signed, c.Note)
	}
	report("note.Sign: %d notes are ours, byte for byte", len(all.Signatures))
}

func checkInclusions(all cases, stored tlog.HashReader) {
	proved, refused, equal := 0, 0, 0
	for _, c := range all.Inclusions {
		err := tlog.CheckRecord(c.Path, c.Size, c.Root, c.Index, tlog.RecordHash(c.Data))
		if c.Refused {
			must(err != nil, "tlog.CheckRecord accepts: %s, leaf %d of %d", c.Name, c.Index, c.Size)
			refused++
			continue
		}
		check(err, fmt.Sprintf("%s, leaf %d of %d", c.Name, c.Index, c.Size))
		proved++
		if c.Size > int64(len(all.Leaves)) {
			continue
		}
		made, err := tlog.ProveRecord(c.Size, c.Index, stored)
		check(err, "tlog.ProveRecord")
		must(sameHashes(made, c.Path), "tlog.ProveRecord makes another proof of leaf %d of %d", c.Index, c.Size)
		equal++
	}
	report("tlog.CheckRecord: %d inclusion proofs verified, %d broken ones refused", proved, refused)
	report("tlog.ProveRecord: %d of the proofs are the same, hash for hash", equal)
}

func checkConsistencies(all cases, stored tlog.HashReader) {
	proved, refused, equal := 0, 0, 0
	for _, c := range all.Consistencies {
		err := tlog.CheckTree(c.Path, c.To, c.ToRoot, c.From, c.FromRoot)
		if c.Refused {
			must(err != nil, "tlog.CheckTree accepts: %s, from %d to %d", c.Name, c.From, c.To)
			refused++
			continue
		}
		check(err, fmt.Sprintf("%s, from %d to %d", c.Name, c.From, c.To))
		proved++
		if c.To > int64(len(all.Leaves)) {
			continue
		}
		made, err := tlog.ProveTree(c.To, c.From, stored)
		check(err, "tlog.ProveTree")
		must(sameHashes(made, c.Path), "tlog.ProveTree makes another proof from %d to %d", c.From, c.To)
		equal++
	}
	report("tlog.CheckTree: %d consistency proofs verified, %d broken ones refused", proved, refused)
	report("tlog.ProveTree: %d of the proofs are the same, hash for hash", equal)
}

func checkTree(all cases, stored tlog.HashReader) {
	for _, c := range all.Roots {
		root, err := tlog.TreeHash(c.Size, stored)
		check(err, "tlog.TreeHash")
		must(root == c.Root, "tlog.TreeHash: another root of %d leaves", c.Size)
	}
	report("tlog.TreeHash: %d roots are the same", len(all.Roots))

	for _, c := range all.Tiles {
		prefix := fmt.Sprintf("tile/%d/", tileHeight)
		tile, err := tlog.ParseTilePath(prefix + c.Path)
		check(err, c.Path)
		must(tile.Path() == prefix+c.Path, "tlog.Tile.Path: %s for %s", tile.Path(), c.Path)
		data, err := tlog.ReadTileData(tile, stored)
		check(err, c.Path)
		must(bytes.Equal(data, c.Data), "tlog.ReadTileData: other hashes in tile %s", c.Path)
	}
	for _, c := range all.Paths {
		tile := tlog.Tile{H: tileHeight, L: c.Level, N: c.Index, W: c.Width}
		path := fmt.Sprintf("tile/%d/%s", tileHeight, c.Path)
		must(tile.Path() == path, "tlog.Tile.Path: %s for %s", tile.Path(), path)
		parsed, err := tlog.ParseTilePath(path)
		check(err, path)
		must(parsed == tile, "tlog.ParseTilePath: another tile for %s", path)
	}
	report("tlog.Tile.Path: %d paths are the same", len(all.Paths))
	report("tlog.ReadTileData: %d tiles of %d leaves are the same, path and bytes", len(all.Tiles), len(all.Leaves))
}

// storeLeaves builds the tree of the leaves by tlog alone.
func storeLeaves(leaves [][]byte) tlog.HashReader {
	var hashes []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		read := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			if index >= int64(len(hashes)) {
				return nil, fmt.Errorf("no hash is stored at %d", index)
			}
			read[i] = hashes[index]
		}
		return read, nil
	})
	for i, leaf := range leaves {
		more, err := tlog.StoredHashes(int64(i), leaf, reader)
		check(err, "tlog.StoredHashes")
		hashes = append(hashes, more...)
	}
	return reader
}

func sameHashes(a, b []tlog.Hash) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func check(err error, what string) { must(err == nil, "%s: %v", what, err) }

func must(holds bool, format string, values ...any) {
	if !holds {
		fmt.Fprintf(os.Stderr, "FAILED "+strings.TrimSpace(format)+"\n", values...)
		os.Exit(1)
	}
}

func report(format string, values ...any) { fmt.Printf(format+"\n", values...) }
