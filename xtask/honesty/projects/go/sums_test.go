package sums

import (
	"os/exec"
	"strings"
	"testing"
)

func TestAdd(t *testing.T) {
	out, err := exec.Command("sh", "src/add.sh", "2", "3").Output()
	if err != nil || strings.TrimSpace(string(out)) != "5" {
		t.Fatalf("2 + 3 = %s, %v", out, err)
	}
}
